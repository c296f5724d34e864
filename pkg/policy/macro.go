package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"ethos/pkg/lazy"
)

// Limits for the text and the tree of an expression, because a policy file is untrusted input.
const (
	maxExpression = 16 << 10 // bytes, after its macros are expanded
	maxDepth      = 64       // nesting of the tree, and of calls of macros
	maxFaults     = 100      // of a file, after which no macro is expanded
)

// macro is a named expression of a policy file. A call of it, NAME(ARGUMENT, …), stands for the text
// of the expression in parentheses, in which the arguments take the places of the parameters. An
// expression can call the macros that stand before it in the file, so none calls itself.
type macro struct {
	name       string
	parameters []string
	at         *yaml.Node // the name
	text       []token    // without comments
	called     bool
}

// readMacro reads a macro.
func (f *file) readMacro(n *yaml.Node) {
	m := &macro{at: n}
	f.mapping(n, "a macro",
		key{"name", true, func(n *yaml.Node) {
			m.at = n
			f.word(&m.name, "a macro's name")(n)
		}},
		key{"parameters", false, f.list("parameters", func(n *yaml.Node) {
			var parameter string
			f.word(&parameter, "a parameter")(n)
			if slices.Contains(m.parameters, parameter) {
				f.fault(n, "parameter %q occurs twice in macro %q", parameter, m.name)
			}
			m.parameters = append(m.parameters, parameter)
		})},
		key{"expression", true, func(n *yaml.Node) {
			var text string
			if f.text(&text, "expression")(n); text != "" {
				m.text = trimmed(f.tokens(n, text))
			}
		}})
	f.macros = append(f.macros, m)
}

// word reads a name that an expression can contain, and that has no meaning in CEL.
func (f *file) word(to *string, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		var word string
		switch f.text(&word, what)(n); {
		case word == "": // its fault is recorded
		case !isWord(word) || tokenText.Get().FindString(word) != word:
			f.fault(n, "%s consists of letters, digits and \"_\", which %q does not", what, word)
		case taken(word):
			f.fault(n, "%s: CEL or ethos has %q already; choose another name", what, word)
		default:
			*to = word
		}
	}
}

// token is a piece of the text of an expression.
type token struct {
	text string
	doc  *document
	in   *yaml.Node // the scalar of the document in which it stands
	at   int        // where in its value, without the spaces around it, in characters
}

// tokenText matches one token: a string, a comment, a number, a name, or any other character. See
// https://github.com/google/cel-spec/blob/master/doc/langdef.md#syntax.
var tokenText = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)^(?:` +
		`[bB]?[rR][bB]?(?:""".*?"""|'''.*?'''|"[^"\n]*"|'[^'\n]*')|` +
		`[bB]?(?:"""(?:\\.|[^\\])*?"""|'''(?:\\.|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|` +
		`//[^\n]*|[0-9][0-9A-Za-z_]*|[A-Za-z_][0-9A-Za-z_]*|\s+|.)`)
}}

// tokens splits the text of a scalar.
func (d *document) tokens(n *yaml.Node, text string) (list []token) {
	for at := 0; text != ""; {
		one := tokenText.Get().FindString(text)
		list = append(list, token{one, d, n, at})
		at += utf8.RuneCountInString(one)
		text = text[len(one):]
	}
	return list
}

func isWord(text string) bool {
	return text != "" && (text[0] == '_' || text[0]|0x20 >= 'a' && text[0]|0x20 <= 'z') && !strings.ContainsAny(text, "\"'")
}

// next returns the index of the first token from an index that is no space.
func next(list []token, i int) int {
	for i < len(list) && strings.TrimSpace(list[i].text) == "" {
		i++
	}
	return i
}

// expandMacros expands the macros in the expressions of the file: its own, and those before them.
func (f *file) expandMacros(before []*macro) {
	if len(before)+len(f.macros) == 0 {
		return
	}
	x := &expansion{file: f, macros: map[string]*macro{}, room: maxFile}
	for _, m := range before {
		x.macros[m.name] = m
	}
	for _, m := range f.macros {
		if x.macros[m.name] != nil {
			f.fault(m.at, "macro %q is already defined", m.name)
		}
		m.text = x.whole(m.text, m.at)
		if m.name != "" {
			x.macros[m.name] = m
		}
	}
	for _, w := range f.policies {
		if w.When == "" {
			continue
		}
		faults := len(f.faults)
		w.expanded = x.whole(f.tokens(w.given["when"], w.When), w.given["when"])
		var when strings.Builder
		for _, t := range w.expanded {
			when.WriteString(t.text)
		}
		if w.When = when.String(); len(f.faults) > faults {
			w.When = "" // what is left would not compile
		}
	}
}

// unusedMacros records a fault for each macro that no expression calls.
func (f *file) unusedMacros() {
	for _, m := range f.macros {
		if !m.called && m.name != "" {
			f.fault(m.at, "macro %q is not used", m.name)
		}
	}
}

// expansion expands the macros of one file.
type expansion struct {
	*file
	macros map[string]*macro // those that can be called
	room   int               // for all expressions together, in bytes
}

// whole expands an expression, which stands at a node.
func (x *expansion) whole(in []token, n *yaml.Node) (out []token) {
	if x.room < 0 {
		return nil // there is a fault
	}
	out = x.expand(in, n, 0)
	for _, t := range out {
		x.room -= len(t.text)
	}
	if x.room < 0 {
		x.fault(n, "the expressions of the file are longer than %d bytes when their macros are expanded", maxFile)
	}
	return out
}

// expand expands the calls of macros in an expression, or in an argument of one.
func (x *expansion) expand(in []token, n *yaml.Node, depth int) (out []token) {
	size, member := 0, false // the token before is a dot
	for i := 0; i < len(in) && len(x.faults) < maxFaults; i++ {
		more := in[i : i+1]
		m := x.macros[in[i].text]
		if open := next(in, i+1); m != nil && !member && open < len(in) && in[open].text == "(" {
			more, i = x.call(m, in, i, open, depth)
		}
		for _, t := range more {
			size += len(t.text)
			member = t.text == "." || member && strings.TrimSpace(t.text) == ""
		}
		if size > maxExpression {
			x.fault(n, "this is longer than %d bytes when its macros are expanded", maxExpression)
			return nil
		}
		out = append(out, more...)
	}
	return out
}

// call returns the text for a call of a macro, and the index of the last token of the call.
func (x *expansion) call(m *macro, in []token, begin, open, depth int) (out []token, end int) {
	at := in[begin]
	m.called = true
	args, end := arguments(in, open)
	fault := func(format string, args ...any) {
		line, column := at.doc.locate(at.in, at.at)
		at.doc.faultAt(line, column, format, args...)
	}
	switch {
	case end == len(in):
		fault("the call of macro %q does not end", m.name)
		return nil, end
	case len(args) != len(m.parameters):
		fault("macro %s(%s) is called %s", m.name, strings.Join(m.parameters, ", "), counted(len(args)))
		return nil, end
	case depth == maxDepth:
		fault("macros are called in more than %d arguments of each other", maxDepth)
		return nil, end
	}
	for i := range args {
		if name := captured(args[i], m.text); name != "" {
			fault("macro %q has a variable %q of its own: choose another name for yours", m.name, name)
		}
		args[i] = x.expand(args[i], at.in, depth+1)
	}
	return append(append([]token{{"(", at.doc, at.in, at.at}}, m.with(args)...), token{")", at.doc, at.in, at.at}), end
}

func counted(arguments int) string {
	switch arguments {
	case 0:
		return "without arguments"
	case 1:
		return "with 1 argument"
	}
	return fmt.Sprintf("with %d arguments", arguments)
}

// arguments returns the arguments in the parentheses that open at an index, and the index where they
// close, or the number of tokens if they do not.
func arguments(in []token, open int) (args [][]token, end int) {
	depth, from := 0, open+1
	for end = open; end < len(in); end++ {
		switch in[end].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		}
		if depth == 0 || depth == 1 && in[end].text == "," {
			if arg := trimmed(in[from:end]); len(arg) > 0 || len(args) > 0 || depth == 1 {
				args = append(args, arg)
			}
			from = end + 1
		}
		if depth == 0 {
			return args, end
		}
	}
	return nil, end
}

// trimmed returns tokens without the spaces around them, and without comments.
func trimmed(list []token) (out []token) {
	for _, t := range list {
		if space := strings.TrimSpace(t.text) == ""; !strings.HasPrefix(t.text, "//") && !(space && len(out) == 0) {
			out = append(out, t)
		}
	}
	for len(out) > 0 && strings.TrimSpace(out[len(out)-1].text) == "" {
		out = out[:len(out)-1]
	}
	return out
}

// captured returns a name in an argument that is also the variable of a comprehension in a text, as
// in list.exists(NAME, …): there it would mean something else. It returns "" if there is none.
func captured(arg, text []token) string {
	names := map[string]bool{} // in the argument, other than fields and methods
	member := false
	for _, t := range arg {
		names[t.text] = names[t.text] || !member && isWord(t.text)
		member = t.text == "." || member && strings.TrimSpace(t.text) == ""
	}
	for i, t := range text {
		open := next(text, i+1)
		if t.text != "." || open == len(text) || !isWord(text[open].text) {
			continue
		}
		for at := next(text, open+1); at < len(text) && (text[at].text == "(" || text[at].text == ","); {
			name := next(text, at+1)
			if at = next(text, name+1); at < len(text) && text[at].text == "," && names[text[name].text] {
				return text[name].text
			}
		}
	}
	return ""
}

// with returns the text of a macro with arguments in the places of the parameters.
func (m *macro) with(args [][]token) (out []token) {
	member := false
	for _, t := range m.text {
		which := slices.Index(m.parameters, t.text)
		if member || which < 0 {
			out = append(out, t)
		} else if arg := args[which]; isChain(arg) {
			out = append(out, arg...)
		} else {
			out = append(append(append(out, token{"(", t.doc, t.in, t.at}), arg...), token{")", t.doc, t.in, t.at})
		}
		member = t.text == "." || member && strings.TrimSpace(t.text) == ""
	}
	return out
}

// isChain reports whether tokens are one, or names with dots between them: they need no parentheses.
func isChain(list []token) bool {
	return len(list) == 1 || !slices.ContainsFunc(list, func(t token) bool { return t.text != "." && !isWord(t.text) })
}

// faultIn records a fault at a character of a policy's expression.
func (f *file) faultIn(w *written, offset int, format string, args ...any) {
	doc, in := f.document, w.given["when"]
	for _, t := range w.expanded {
		if size := utf8.RuneCountInString(t.text); offset >= size {
			offset -= size
			continue
		}
		doc, in, offset = t.doc, t.in, t.at+offset
		break
	}
	line, column := doc.locate(in, offset)
	doc.faultAt(line, column, format, args...)
}
