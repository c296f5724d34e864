package shell

import (
	"net/url"
	"slices"
	"strings"
)

// moduleTool returns the words of a utility that does what an interpreter's library does as a
// program, or nil: `python3 -m zipfile` and `-m tarfile` (The Python Standard Library, "Command-Line
// Interface"), and un.rb, which `ruby -run -e rm -- f` loads.
func moduleTool(name string, args []field) []field {
	is := func(i int, texts ...string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return i < len(args) && args[i].text == text && !args[i].dyn })
	}
	words := func(operands []field, texts ...string) (list []field) {
		for _, text := range texts {
			list = append(list, literal(text, args[0].at(0)))
		}
		return append(list, operands...)
	}
	if module, rest := pythonModule(name, args); module == "IPython" || module == "pylint" || module == "pyperf" {
		return append(words(nil, strings.ToLower(module)), rest...)
	}
	for i := range args {
		rest := args[min(i+3, len(args)):]
		extract, create := is(i+2, "-e", "--extract"), is(i+2, "-c", "--create")
		switch python := isPython(name); {
		case python && is(i, "-m") && is(i+1, "zipfile") && extract && len(rest) == 2:
			return words(rest[1:], "unzip", "x.zip", "-d")
		case python && is(i, "-m") && is(i+1, "zipfile") && create && len(rest) > 0:
			return words(rest, "zip", "-r")
		case python && is(i, "-m") && is(i+1, "http.server", "SimpleHTTPServer"):
			return words(args[i+2:], "http.server")
		case python && is(i, "-m") && is(i+1, "tarfile") && extract && len(rest) == 2:
			return words(rest[1:], "tar", "-x", "-f", "x.tar", "-C")
		case python && is(i, "-m") && is(i+1, "tarfile") && create && len(rest) > 0:
			return words(rest, "tar", "-c", "-f")
		case strings.HasPrefix(name, "ruby") && is(i, "-run") && is(i+1, "-e") && i+2 < len(args):
			if is(i+3, "--") {
				rest = rest[1:]
			}
			return append([]field{args[i+2]}, rest...)
		}
	}
	return nil
}

// isPython reports whether a name is that of Python, with or without a version.
func isPython(name string) bool {
	return strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy")
}

// pythonModule returns the module that Python runs, and the words after it, or "": python3 -um timeit.
func pythonModule(name string, args []field) (module string, rest []field) {
	if !isPython(name) {
		return "", nil
	}
	for i := 0; i < len(args) && isOption(args[i]) && args[i].text[1] != '-'; i++ {
		text := args[i].text
		switch at := strings.IndexAny(text, "cmWX"); {
		case at < 0:
		case text[at] == 'c':
			return "", nil
		case text[at] != 'm' && at+1 == len(text):
			i++
		case text[at] == 'm' && at+1 < len(text):
			return text[at+1:], args[i+1:]
		case text[at] == 'm' && i+1 < len(args):
			return args[i+1].text, args[i+2:]
		}
	}
	return "", nil
}

// moduleCode returns the code in the words of a module that Python runs (The Python Standard Library,
// "timeit", "pdb").
func moduleCode(name string, args []field) (code []field) {
	switch module, rest := pythonModule(name, args); module {
	case "timeit":
		p := grammar{short: "n:r:s:u:", long: "number= repeat= setup= unit= process verbose"}.parse(rest, true)
		return append(p.values("s", "setup"), p.operands...)
	case "pdb":
		p := grammar{short: "c:m:", long: "command="}.parse(rest, true)
		for _, f := range p.values("c", "command") {
			code = append(code, f.from(len(f.text)-len(strings.TrimLeft(f.text, "! "))))
		}
	}
	return code
}

// dataCode returns the code of a URL that holds it: data:text/javascript,CODE (RFC 2397). Code in
// base64 is not read.
func dataCode(f field) (code field, ok bool) {
	at := strings.Index(f.text, "data:")
	if at < 0 || at > 0 && f.text[at-1] != '=' {
		return f, false
	}
	head, text, ok := strings.Cut(f.text[at:], ",")
	if !ok {
		return f, false
	}
	code = f.from(at + len(head) + 1)
	if decoded, err := url.PathUnescape(text); err == nil && decoded != text {
		code.text = decoded
	}
	code.dyn = code.dyn || strings.Contains(head, "base64")
	return code, true
}
