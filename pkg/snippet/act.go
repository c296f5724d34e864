package snippet

import (
	"path"
	"slices"
	"strings"
)

// Kind says what a piece of code does.
type Kind uint8

// The kinds of an [Act].
const (
	Shell  Kind = iota // Words[0] is code for a shell
	Start              // Words is a program with its arguments
	Open               // Words[0] is read
	Write              // Words[0] is written
	Delete             // Words[0] is deleted
	Tree               // Words[0] is deleted recursively
	Opaque             // code is decoded and run
	Match              // Words[0] is a pattern; files that it matches are deleted
	Enter              // Words[0] is the working directory of what follows
)

// Act is one thing that code does. A word that begins with "~" is a path in the home directory;
// [Unknown] stands for what is not known.
type Act struct {
	Kind  Kind
	Words []string
}

const maxActs = 200

// maxNames and maxName limit the result of [Names].
const (
	maxNames = 200
	maxName  = 64
)

// Names returns the sorted identifiers in the code, and the modules and the files of code that are
// loaded by a string.
// The content of other strings and of comments is ignored.
func Names(lang Language, code string) (names []string) {
	if lang >= Tcl {
		return nil
	}
	tokens := scan(lang, code)
	for i, t := range tokens {
		loaded := t.kind == text && i > 0 && (loads(tokens[i-1]) || i > 1 && tokens[i-1].is("(") && loads(tokens[i-2]))
		name := strings.TrimLeft(t.text, "$@%")
		if loaded {
			name = name[:min(len(name), maxName)]
		}
		if (t.kind == word || loaded) && name != "" && len(name) <= maxName && len(names) < 4*maxNames {
			names = append(names, strings.TrimPrefix(name, "node:"))
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), maxNames)]
}

// loads reports whether a string after this word names a module.
func loads(t token) bool {
	if t.kind != word {
		return false
	}
	switch t.text {
	case "require", "import", "from", "__import__", "import_module", "use", "require_once", "include", "include_once", "importScripts", "source", "source_url", "evalfile":
		return true
	}
	return false
}

// Read lists what code does, in the order of the calls.
func Read(lang Language, code string) []Act { return read(lang, code, 0) }

func read(lang Language, code string, depth int) []Act { return readMore(lang, code, depth, new(int)) }

// maxWork limits the tokens of a snippet and of the code in it.
const maxWork = 4 * maxTokens

func readMore(lang Language, code string, depth int, work *int) []Act {
	switch lang {
	case Tcl:
		return tcl(code, depth)
	case Console:
		return console(code, depth)
	case Lisp:
		return lisp(code)
	case PowerShell:
		return powershell(code)
	case Makefile:
		return makefile(code)
	case Other:
		return other(code)
	}
	r := &reader{lang: lang, tokens: scan(lang, code), vars: map[string]value{}, depth: depth, work: work}
	*work += len(r.tokens)
	if r.at(0).is("rm") && r.at(1).is("-") && (lang == Ruby || lang == Perl) { // a shell command in the wrong program
		r.add(Shell, code)
	}
	for i := 0; i < len(r.tokens); {
		i = r.statement(i)
	}
	return r.acts
}

// statement parses what begins at token i: an assignment, a call, or nothing.
func (r *reader) statement(i int) int {
	t := r.at(i)
	switch {
	case t.kind == shell:
		r.add(Shell, t.value.text)
	case r.lang == Awk && r.at(i+1).is("|") && r.at(i+2).is("getline"):
		if v, _ := r.value(i); !v.none && v.text != "" {
			r.add(Shell, v.text)
		}
		return i + 2
	case r.lang == Awk && (t.is("|") || t.is(">") || t.is("<")):
		return r.redirect(i)
	case r.lang == AppleScript && t.is("shell") && r.at(i+1).is("script") && r.at(i+2).kind == text:
		r.add(Shell, r.at(i+2).value.text)
		return i + 3
	case t.is("(") && r.lang != Awk:
		_, after := r.value(i)
		return max(after, i+1)
	case r.lang == Python && (t.is("[") || t.is("{")):
		r.comprehension(i + 1)
	case t.kind != word:
	case r.lang == Python && t.is("for"):
		return r.loop(i)
	case r.lang == Python && t.is("with"):
		return r.with(i)
	case r.at(i+1).is("=") && !r.at(i+2).is("=") && !r.at(i+2).is("~") && t.kind == word:
		v, after := r.value(i + 2)
		r.vars[t.text] = v
		return max(after, i+3)
	default:
		return r.call(i)
	}
	if t.kind == text || t.kind == word {
		_, after := r.value(i)
		return max(after, i+1)
	}
	return i + 1
}

// redirect parses awk's print > FILE, getline < FILE and print | COMMAND.
func (r *reader) redirect(i int) int {
	op := r.at(i).text
	if r.at(i + 1).is(">") {
		i++
	}
	v, after := r.value(i + 1)
	if v.none || r.at(i+1).kind != text {
		return i + 1
	}
	switch op {
	case "|":
		r.add(Shell, v.text)
		if code := r.printed(i); startsShell(v.text) && code != "" {
			r.add(Shell, code)
		}
	case ">":
		r.file(Write, v)
	case "<":
		r.file(Open, v)
	}
	return max(after, i+1)
}

// printed returns the text that awk's print before token i prints, "" if that is not
// a string.
func (r *reader) printed(i int) (code string) {
	for i--; i >= 0 && r.at(i).kind == text; i-- {
		code = r.at(i).value.text + code
	}
	if i < 0 || !r.at(i).is("print") {
		return ""
	}
	return code
}

// startsShell reports whether a command is a shell that reads its standard input.
func startsShell(command string) bool {
	words := strings.Fields(command)
	if len(words) == 0 || len(words) > 1 && words[1] != "-s" && words[1] != "-" {
		return false
	}
	switch path.Base(words[0]) {
	case "sh", "bash", "dash", "zsh", "ksh":
		return true
	}
	return false
}

// call parses a name and its arguments: in parentheses or, in Ruby and Perl, without.
func (r *reader) call(i int) int {
	name, after := r.chain(i)
	if keyword(name) {
		return i + 1
	}
	if r.at(after).is("(") {
		_, end := r.value(i)
		return max(end, i+1)
	}
	if (r.lang == Ruby || r.lang == Perl || r.lang == PHP) && verb(r.lang, name) {
		var args []value
		for at := after; at < len(r.tokens); {
			t := r.at(at)
			if t.kind == end || t.is(";") || t.is("}") || t.is("if") || t.is("or") || t.is("unless") || t.is("do") {
				break
			}
			if t.is(",") {
				at++
				continue
			}
			v, next := r.value(at)
			args, at = append(args, v), max(next, at+1)
		}
		r.result(name, args)
		return max(after, i+1)
	}
	if name == "new" || !slices.Contains([]string{"import", "from", "const", "let", "var", "my", "our", "local", "print", "puts", "return", "echo"}, name) {
		if _, end := r.value(i); end > after {
			return end
		}
	}
	return max(after, i+1)
}

// keyword reports whether a word before parentheses is not a call.
func keyword(name string) bool {
	switch name {
	case "if", "elsif", "elif", "while", "until", "for", "foreach", "switch", "return", "and", "or", "not", "with", "await", "unless", "in", "as":
		return true
	}
	return false
}

func verb(lang Language, name string) bool {
	_, ok := meanings(lang)[last(name)]
	return ok
}

func last(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

func (r *reader) add(k Kind, words ...string) {
	if len(r.acts) < maxActs {
		r.acts = append(r.acts, Act{k, words})
	}
}

// file adds an act on a path that is at least partly known.
func (r *reader) file(k Kind, v value) {
	if len(r.acts) >= maxActs {
		return
	}
	for _, each := range v.alt {
		r.file(k, each)
	}
	switch {
	case v.none || v.list || v.text == "":
	case v.some && (k == Delete || k == Tree) && !strings.Contains(v.text, Unknown):
		r.add(Match, below(v.text))
	default:
		r.add(k, merged(v.single().text))
	}
	for _, item := range v.items {
		r.file(k, item)
	}
}
