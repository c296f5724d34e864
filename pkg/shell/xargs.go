package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// xargs runs its operands with words from standard input, which are known if that text is.
func (c *walker) xargs(w *wrapper, inv invocation) (invocation, bool) {
	p := w.grammar.parse(inv.fields[1:], true)
	name, file := p.value("a", "arg-file")
	if file {
		c.read(c.locate(name, c.dirOf(inv)), "xargs")
	}
	if len(p.operands) == 0 {
		c.alone(inv, w.name)
		return inv, false
	}
	in := inv.inner(w, p.operands)
	input := c.feedOf(inv)
	in.input = &feed{closed: true}
	in.typed = !file && c.typed(inv)
	replace, replacing := p.value("I", "replace", "i", "J")
	if p.has("i", "replace") && !replacing {
		replace, replacing = literal("{}", 0), true
	}
	if file {
		input = c.listFile(name, inv)
	}
	words, known := c.xargsWords(&p, c.namesFor(input, p.operands), replacing)
	if !known {
		words = c.hints(input, inv.fields[0].at(0))
	}
	if !replacing {
		return c.xargsChunks(in, &p, words, known)
	}
	if !known {
		for i := range words {
			words[i].many = false
		}
	}
	c.eachReplaced(in, replace.text, words)
	return in, false
}

// xargsChunks passes all words to one command or, with -n, a few to each of several commands.
func (c *walker) xargsChunks(in invocation, p *parsed, words []field, known bool) (invocation, bool) {
	size := len(words)
	if f, ok := p.value("n", "max-args", "L", "max-lines", "l", "s", "max-chars"); ok || p.has("L", "l", "max-lines", "x") {
		if n, number := f.number(); number && n > 0 && p.has("n", "max-args") {
			size = n
		} else {
			known = false
		}
	}
	command := in.fields[:len(in.fields):len(in.fields)]
	if known && size > 0 && len(words)/size > maxAlts {
		words, known = fewer(words), false
	}
	if !known {
		in.fields = append(command, words...)
		return in, true
	}
	for len(words) > size {
		next := in
		next.fields = append(command, words[:size]...)
		c.dispatch(next)
		words = words[size:]
	}
	in.fields = append(command, words...)
	return in, true
}

// eachReplaced dispatches a command once for each word that replaces a marker in it.
func (c *walker) eachReplaced(inv invocation, marker string, words []field) {
	for _, word := range words {
		in := *c
		if word.dyn {
			src := *c.src
			src.hole, src.alien = marker, word.alien
			in.src = &src
		}
		next := inv
		next.fields = make([]field, len(inv.fields))
		for i, arg := range inv.fields {
			next.fields[i] = replaced(arg, marker, word)
		}
		in.dispatch(next)
	}
}

// replaced replaces a marker by a word. Code with a marker whose value is unknown stays unchanged:
// the position of the marker is then the part that is not static.
func replaced(arg field, marker string, word field) field {
	if marker == "" || !strings.Contains(arg.text, marker) || word.dyn && strings.ContainsAny(arg.text, " \t\n;&|") {
		return arg
	}
	out := arg
	out.text = strings.ReplaceAll(arg.text, marker, word.text)
	out.dyn, out.alien = arg.dyn || word.dyn, arg.alien || word.alien
	out.runs = runs{{offset: arg.at(0), fixed: true}}
	return out
}

// hints returns words that stand for any number of unknown ones: for the output of a program that
// lists files the names, for that of ls of a directory every name, else "{}".
func (c *walker) hints(input feed, offset int) (words []field) {
	names := c.listed(input)
	if len(names) == 0 && input.kind == feedPipe && onlyQuiet(input.stmt.Redirs) && c.listsDirectory(input) {
		names = []alt{someNames("*")}
	}
	for _, n := range names {
		words = append(words, field{text: n.text, dyn: true, many: true, whole: n.whole, offset: offset})
	}
	if len(words) == 0 {
		words = []field{{text: "{}", dyn: true, many: true, alien: !c.lists(input), offset: offset}}
	}
	return words
}

// listsDirectory reports whether an input is the output of ls of one directory.
func (c *walker) listsDirectory(input feed) bool {
	call, ok := input.stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 {
		return false
	}
	e := eval{c: input.in, frozen: true}
	fields := e.words(call.Args)
	if len(fields) == 0 || fields[0].uncertainHead() || baseName(fields[0].text) != "ls" {
		return false
	}
	p := grammar{}.parse(fields[1:], false)
	return len(p.operands) == 1 && !p.operands[0].glob
}

// separator returns the character that -d names, with the escapes of C.
func separator(name string) string {
	switch name {
	case `\n`:
		return "\n"
	case `\t`:
		return "\t"
	case `\0`, `\x00`:
		return "\x00"
	}
	return name
}

// xargsWords returns the words that xargs reads. If they are unknown, it returns one word that
// stands for any number of them.
func (c *walker) xargsWords(p *parsed, input feed, lines bool) ([]field, bool) {
	text, ok := input.static()
	delimiter, delimited := p.value("d", "delimiter")
	end, ends := p.value("E", "eof", "e")
	if !ok || delimited && !delimiter.static() || ends && !end.static() {
		return nil, false
	}
	var words []string
	switch {
	case delimited:
		words = strings.Split(strings.TrimSuffix(text.text, "\n"), separator(delimiter.text))
	case p.has("0", "null"):
		words = strings.FieldsFunc(text.text, func(r rune) bool { return r == 0 })
	case lines:
		words = strings.FieldsFunc(text.text, func(r rune) bool { return r == '\n' })
	default:
		words = strings.Fields(text.text)
	}
	if i := slices.Index(words, end.text); ends && end.text != "" && i >= 0 && !delimited && !p.has("0", "null") {
		words = words[:i]
	}
	if len(words) > maxFields || !delimited && !p.has("0", "null") && strings.ContainsAny(text.text, `'"\`) {
		return nil, false
	}
	out := make([]field, len(words))
	for i, word := range words {
		out[i] = field{text: strings.TrimLeft(word, " \t"), offset: text.at(0), runs: runs{{offset: text.at(0), fixed: true}}}
	}
	return out, true
}
