package snippet

import "strings"

// A listing is a pattern of paths. A loop over it gives its variable one path after the other: the
// variable has the pattern too, and what is deleted by it is what the pattern matches, unless the
// code may choose among them.

func listing(m meaning, dir value) value {
	switch {
	case m == lists:
		return value{text: "*", each: true}
	case dir.none || dir.list:
		return unknown()
	case m == walks:
		return value{text: strings.TrimSuffix(dir.text, "/") + "/**", each: true, some: dir.some}
	}
	return value{text: strings.TrimSuffix(dir.text, "/") + "/*", each: true, some: dir.some}
}

func found(dir value, between string, args []value) value {
	if dir.none || dir.list || len(args) == 0 {
		return unknown()
	}
	return value{text: concat(concat(dir, known(between)), args[0]).text, each: true}
}

// below returns a pattern in its shortest form, which matches at any depth if "**" is its end.
func below(pattern string) string {
	for {
		short, ok := strings.CutSuffix(pattern, "**/*")
		if !ok {
			return pattern
		}
		pattern = short + "**"
	}
}

// single returns what is known of one of the files that match: wildcards are unknown.
func (v value) single() value {
	if v.some {
		v.some = false
		v.text = merged(withoutWildcards(v.text))
		v.none = v.text == Unknown
	}
	return v
}

// merged joins neighbouring parts of a path that are not known.
func merged(name string) string {
	for holes := Unknown + "/" + Unknown; strings.Contains(name, holes); {
		name = strings.ReplaceAll(name, holes, Unknown)
	}
	return name
}

// maxClass limits the bytes of a [class] in a pattern.
const maxClass = 64

func withoutWildcards(pattern string) string {
	var b strings.Builder
	hole := false
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		if strings.IndexByte("*?[", c) < 0 {
			b.WriteByte(c)
			hole = false
			continue
		}
		if end := strings.IndexByte(pattern[i:min(i+maxClass, len(pattern))], ']'); c == '[' && end > 0 {
			i += end
		}
		if !hole {
			b.WriteString(Unknown)
		}
		hole = true
	}
	return b.String()
}

// choice says whether code may leave out something.
type choice uint8

const (
	unread choice = iota
	all
	selected
)

// chooses reports whether the code has a word by which it may leave out something of a listing.
func (r *reader) chooses() bool {
	if r.chosen != unread {
		return r.chosen == selected
	}
	r.chosen = all
	for _, t := range r.tokens {
		if t.kind != word {
			continue
		}
		switch t.text {
		case "if", "while", "match", "break", "and", "or", "filter", "islice", "assert", "raise", "next", "def":
			r.chosen = selected
			return true
		}
	}
	return false
}

const maxTargets = 8

// loop parses for NAME in VALUE, and returns the index of the token after it.
func (r *reader) loop(i int) int {
	var names []string
	at := i + 1
	for ; !r.at(at).is("in"); at++ {
		switch t := r.at(at); {
		case t.kind == word && at-i <= 2*maxTargets:
			names = append(names, t.text)
		case t.is(","), t.is("("), t.is(")"):
		default:
			return i + 1
		}
	}
	v, after := r.value(at + 1)
	next := r.at(after)
	r.bind(names, v, next.is(":") || next.is("]") || next.is(")") || next.is("}") || next.is("for"))
	return max(after, at+1)
}

// bind gives the variables of a loop what is known of an element.
func (r *reader) bind(names []string, v value, whole bool) {
	for _, name := range names {
		r.vars[name] = unknown()
	}
	switch {
	case len(names) == 0:
	case v.each:
		element := value{text: v.text, some: true}
		if !whole || r.chooses() {
			element = element.single()
		}
		r.vars[names[0]] = element
		for _, name := range names[1:] { // the names in a directory of a walk
			r.vars[name] = value{text: "*", each: true}
		}
	case v.list && len(names) == 1 && len(v.items) <= maxAlt:
		element := unknown()
		for _, item := range v.items {
			if item.none || item.list {
				return
			}
			element.alt = append(element.alt, item)
		}
		r.vars[names[0]] = element
	}
}

// maxAhead limits the tokens that are searched for the loops of a comprehension.
const maxAhead = 64

// comprehension gives the variables of a comprehension their values before its elements are
// parsed: [f(x) for x in VALUE]. It begins at token i, after the bracket.
func (r *reader) comprehension(i int) {
	for at, depth := i, 0; at < min(i+maxAhead, len(r.tokens)); at++ {
		switch t := r.at(at); {
		case t.is("("), t.is("["), t.is("{"):
			depth++
		case t.is(")"), t.is("]"), t.is("}"):
			if depth--; depth < 0 {
				return
			}
		case depth == 0 && t.is("for"):
			acts := len(r.acts)
			r.ahead = true
			r.loop(at)
			r.ahead = false
			r.acts = r.acts[:acts]
		}
	}
}

// with parses with VALUE as NAME.
func (r *reader) with(i int) int {
	v, after := r.value(i + 1)
	if r.at(after).is("as") && r.at(after+1).kind == word {
		r.vars[r.at(after+1).text] = v
		after += 2
	}
	return max(after, i+1)
}
