package shell

import "strings"

// moduleTool returns the words of a utility that does what an interpreter's library does as a
// program, or nil: `python3 -m zipfile` and `-m tarfile` (The Python Standard Library, "Command-Line
// Interface"), and un.rb, which `ruby -run -e rm -- f` loads.
func moduleTool(name string, args []field) []field {
	is := func(i int, texts ...string) bool {
		for _, text := range texts {
			if i < len(args) && args[i].text == text && !args[i].dyn {
				return true
			}
		}
		return false
	}
	words := func(operands []field, texts ...string) (list []field) {
		for _, text := range texts {
			list = append(list, literal(text, args[0].at(0)))
		}
		return append(list, operands...)
	}
	for i := range args {
		rest := args[min(i+3, len(args)):]
		extract, create := is(i+2, "-e", "--extract"), is(i+2, "-c", "--create")
		switch python := strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy"); {
		case python && is(i, "-m") && is(i+1, "zipfile") && extract && len(rest) == 2:
			return words(rest[1:], "unzip", "x.zip", "-d")
		case python && is(i, "-m") && is(i+1, "zipfile") && create && len(rest) > 0:
			return words(rest, "zip")
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
