package shell

import (
	"path"
	"regexp"
	"strings"

	"ethos/pkg/lazy"
	"ethos/pkg/snippet"
)

// notation is how a word of a program's own language says that code in it is run: what opens the
// code, in which language. A bracket at the end of opens ends the code, too; without one, it takes
// the rest of the word.
type notation struct {
	name  string
	opens *regexp.Regexp
	lang  snippet.Language // None: shell
}

// notations is compiled on first use, because few command lines have such a word. The sources are
// rpm-macros(7), "Shell Expansion" and "Lua"; the TeX Live guide, "Running other programs"; the
// LuaTeX manual, "\directlua"; Ghostscript, "Use of Ghostscript", "%pipe%"; tmux(1), "FORMATS"; and
// fzf(1), "COMMAND EXECUTION".
var notations = lazy.Value[[]notation]{Make: func() []notation {
	return []notation{
		{"rpm", regexp.MustCompile(`%\(`), snippet.None},
		{"rpm", regexp.MustCompile(`%\{lua:`), snippet.Lua},
		{"tex", regexp.MustCompile(`\\write18\s*\{`), snippet.None},
		{"tex", regexp.MustCompile(`\\directlua\s*\{`), snippet.Lua},
		{"gs", regexp.MustCompile(`\(%pipe%`), snippet.None},
		{"gs", regexp.MustCompile(`=(%pipe%|\|)`), snippet.None},
		{"tmux", regexp.MustCompile(`#\(`), snippet.None},
		{"fzf", regexp.MustCompile(`\b(execute(-silent)?|become|reload(-sync)?|(bg-)?transform[a-z-]*|(change-)?preview)[(\[{<:]`), snippet.None},
	}
}}

// embedded follows the code in a word of a notation.
func (do *doing) embedded(name string, f field, inv invocation) {
	if name == "" || len(f.text) > maxMention {
		return
	}
	for _, n := range notations.Get() {
		if n.name != name {
			continue
		}
		for _, at := range n.opens.FindAllStringIndex(f.text, maxEmbedded) {
			code := f.from(at[1])
			code.text = bracketed(f.text[at[0]:at[1]], f.text[at[1]:])
			if n.lang == snippet.None {
				do.shellCode(code, do.by, &positional{dyn: true}, inv)
			} else {
				do.snippet(inv, do.by, snippet.Read(n.lang, code.text))
			}
		}
	}
}

// maxEmbedded limits the pieces of code that are followed in one word.
const maxEmbedded = 16

// bracketed returns the beginning of rest that ends where the last bracket of opens closes.
func bracketed(opens, rest string) string {
	i := strings.LastIndexAny(opens, "([{<")
	if i < 0 {
		return rest
	}
	left := opens[i]
	right := map[byte]byte{'(': ')', '[': ']', '{': '}', '<': '>'}[left]
	depth := 1
	for at := range len(rest) {
		switch rest[at] {
		case left:
			depth++
		case right:
			if depth--; depth == 0 {
				return rest[:at]
			}
		}
	}
	return rest
}

// started follows a command that a program starts.
func (do *doing) started(words []field, label string, inv invocation) {
	if in, ok := do.enter(label); ok && len(words) > 0 {
		inv.fields, inv.env, inv.noFunc, inv.noShell = words, nil, true, true
		in.dispatch(inv)
	}
}

// loaded follows a program or a library that a program starts or loads in place of one of the
// system's. A name without a path is one of the system's, and a value that is not static is left
// out for the reason that [doing.variables] gives.
func (do *doing) loaded(f field, label string, inv invocation) {
	if f.static() && strings.Contains(f.text, "/") {
		do.started([]field{f}, label, inv)
	}
}

// setting follows NAME=VALUE, or NAME VALUE as in ssh_config(5), if keys has the name.
func (do *doing) setting(keys string, f field, label string, inv invocation) {
	name, text, ok := strings.Cut(f.text, "=")
	if !ok {
		name, text, ok = strings.Cut(f.text, " ")
	}
	if !ok || text == "none" { // of ssh
		return
	}
	name = strings.TrimSpace(name)
	for key := range strings.FieldsSeq(keys) {
		pattern, file := strings.CutPrefix(key, "@")
		if is, _ := path.Match(pattern, strings.ToLower(name)); !is {
			continue
		}
		value := f.from(len(f.text) - len(text))
		if n := len(text); n > 1 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] { // TOML
			value, value.text = value.from(1), text[1:n-1]
		} else if text[:min(n, 1)] == "!" { // an alias of hg
			value = value.from(1)
		}
		if file {
			do.loaded(value, label+" "+name, inv)
		} else {
			do.shellCode(value, label+" "+name, &positional{dyn: true}, inv)
		}
		return
	}
}

// moreOptions follows options of a program that are all in one word.
func (do *doing) moreOptions(program string, text field, inv invocation) {
	inv.fields, inv.env = append([]field{literal(program, text.at(0))}, splitString(text)...), nil
	more := *do
	more.by = program
	more.words(inv)
}
