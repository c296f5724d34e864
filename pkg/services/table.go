package services

import (
	_ "embed"
	"net/url"
	"path"
	"slices"
	"strings"

	"ethos/pkg/lazy"
)

//go:embed table.txt
var table string

// line is one form of a command in a block.
type line struct {
	effect  string
	pattern []string
}

// entry is what the table says of a program.
type entry struct {
	system string // "" for a program that is not in the table
	flags  []string
	answer string // the option that has the effect of a "yes" on standard input; "" for none
	lines  []line
	at     string // the option that names the address of the service; "" for none
	always int    // the number of lines that count wherever the service is
}

// block finds a program in the table. It parses only that block.
func block(name string) entry {
	if name == "" || strings.ContainsAny(name, " =@\n") {
		return entry{}
	}
	known := heads.Get()
	at := strings.Index(known.names, " "+name+" ")
	if at < 0 {
		return entry{}
	}
	h := known.list[strings.Count(known.names[:at], "\n")]
	return read(h.system, table[h.from:])
}

// head is what the first line of a block says.
type head struct {
	system string
	from   int // offset of the block's lines
}

// directory finds the block of a name: names has a line for each head, with a space before and after
// each name, so that one search is enough.
type directory struct {
	names string
	list  []head
}

// heads reads the first lines of all blocks. The table is scanned once, for the sign that few other
// lines have.
var heads = lazy.Value[directory]{Make: func() directory {
	list := make([]head, 0, 256)
	var all strings.Builder
	all.Grow(4 << 10)
	for at := 0; ; {
		next := strings.IndexByte(table[at:], '@')
		if next < 0 {
			return directory{all.String(), list}
		}
		if at += next + 1; !strings.HasSuffix(table[:at], "\n@") {
			continue
		}
		line, _, _ := strings.Cut(table[at:], "\n")
		names, system, _ := strings.Cut(line, " = ")
		all.WriteString(" " + names + " \n")
		list = append(list, head{system, at + len(line) + 1})
	}
}}

// read parses the lines up to the next block.
func read(system, text string) entry {
	c := entry{system: system}
	for l := range strings.SplitSeq(text, "\n") {
		words := strings.Fields(l)
		switch {
		case len(words) == 0 || words[0] == "#":
		case l[0] == '@':
			return c
		case words[0] == ".":
			c.flags = append(c.flags, words[1:]...)
		case words[0] == "answer":
			c.answer = words[1]
		case words[0] == "at":
			c.at, c.always = words[1], len(c.lines)
		default:
			c.lines = append(c.lines, line{words[0], words[1:]})
		}
	}
	return c
}

// words is a command line as the patterns see it. A word that is not static is
// "" with known false.
type words struct {
	argv  []*string
	flags []string
}

func (w words) text(i int) string {
	if w.argv[i] == nil {
		return ""
	}
	return *w.argv[i]
}

func (w words) isOption(i int) bool { t := w.text(i); return len(t) > 1 && t[0] == '-' }

// takesValue reports whether the word after option i may be its value.
func (w words) takesValue(i int) bool {
	t := w.text(i)
	if t == "--" || strings.Contains(t, "=") {
		return false
	}
	return !slices.Contains(w.flags, t)
}

// match matches a pattern against the words. It returns the operation, and the
// index of the first word after those that the pattern names.
func (l *line) match(w words) (operation []string, rest int, ok bool) {
	var verbs []string
	for _, p := range l.pattern {
		switch {
		case p[0] == '-':
			ok = w.option(p)
		case p[0] == '!':
			ok = !w.option(p[1:])
		case p[0] == '@':
			ok = w.somewhere(p[1:])
		case p == "?data":
			ok = w.showsData()
		default:
			verbs = append(verbs, p)
			continue
		}
		if !ok {
			return nil, 0, false
		}
	}
	if len(verbs) > 30 {
		return nil, 0, false
	}
	return w.verbs(verbs)
}

// verbs follows all interpretations of the words at once, because any option
// may take the next word as its value.
func (w words) verbs(verbs []string) (operation []string, rest int, ok bool) {
	n, end := len(w.argv), len(verbs)
	reach := make([]uint32, n+3)
	reach[0] = 1
	for i := 0; i <= n; i++ {
		for v := 0; v <= end; v++ {
			if reach[i]&(1<<v) == 0 {
				continue
			}
			if v == end {
				return w.said(verbs), i, true
			}
			if verbs[v] == "**" {
				reach[i] |= 1 << (v + 1)
			}
			if i == n {
				if verbs[v] == "$" && v+1 == end {
					return w.said(verbs), i, true
				}
				continue
			}
			w.step(reach, i, v, verbs[v])
		}
	}
	return nil, 0, false
}

func (w words) step(reach []uint32, i, v int, verb string) {
	if w.isOption(i) {
		reach[i+1] |= 1 << v
		if w.takesValue(i) && i+1 < len(w.argv) && !w.isOption(i+1) {
			reach[i+2] |= 1 << v
		}
		return
	}
	switch {
	case verb == "**":
		reach[i+1] |= 1 << v
	case w.argv[i] != nil && verb != "$" && takes(verb, w.text(i)):
		reach[i+1] |= 1 << (v + 1)
	}
}

// takes reports whether a word is one that a verb of a pattern names.
func takes(verb, word string) bool {
	if kinds, ok := strings.CutPrefix(verb, "~"); ok {
		return names(kinds, word)
	}
	return anyGlob(verb, word)
}

// said returns the actual words that the verbs matched, for the reader.
func (w words) said(verbs []string) (out []string) {
	at := 0
	for _, v := range verbs {
		if v == "**" || v == "$" {
			continue
		}
		for i := at; i < len(w.argv); i++ {
			if !w.isOption(i) && w.argv[i] != nil && takes(v, w.text(i)) {
				out, at = append(out, w.text(i)), i+1
				break
			}
		}
	}
	return out
}

// somewhere reports whether a word matches glob or, if glob is empty, whether
// there is any word after the options.
func (w words) somewhere(glob string) bool {
	for i := range w.argv {
		if glob == "" && !w.isOption(i) || glob != "" && w.argv[i] != nil && anyGlob(glob, w.text(i)) {
			return true
		}
	}
	return false
}

// option reports whether one of the alternatives is given. It finds -x also in
// a cluster of short options. An alternative with =GLOB needs a matching value,
// attached or in the next word.
func (w words) option(alternatives string) bool {
	for alt := range strings.SplitSeq(alternatives, "|") {
		name, glob, valued := strings.Cut(alt, "=")
		for i := range w.argv {
			if given, value := w.given(name, i, valued); given && (!valued && value != "false" && value != "0" || valued && anyGlob(glob, value)) {
				return true
			}
		}
	}
	return false
}

// here reports whether an option that names the address of a service is given, and names this
// machine each time. The option may be abbreviated.
func (w words) here(option string) bool {
	found := false
	for i := range w.argv {
		name, value, attached := strings.Cut(w.text(i), "=")
		if len(name) < len("--x") || !strings.HasPrefix(option, name) {
			continue
		}
		if !attached && i+1 < len(w.argv) {
			value = w.text(i + 1)
		}
		if u, err := url.Parse(value); err != nil || !local(u.Hostname()) {
			return false
		}
		found = true
	}
	return found
}

func (w words) given(name string, i int, valued bool) (bool, string) {
	t := w.text(i)
	long, value, attached := strings.Cut(t, "=")
	switch {
	case attached && long == name:
		return true, value
	case t == name && valued && i+1 < len(w.argv):
		return true, w.text(i + 1)
	case t == name:
		return true, ""
	case len(name) != 2 || len(t) < 3 || t[0] != '-' || t[1] == '-':
		return false, ""
	case valued:
		return strings.HasPrefix(t, name), t[2:]
	}
	return !strings.Contains(t, "=") && strings.IndexByte(t[1:], name[1]) >= 0 && cluster(t[1:]), ""
}

// cluster reports whether the letters can be several options in one word.
func cluster(letters string) bool {
	return len(letters) <= 4 && strings.IndexFunc(letters, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }) < 0
}

func anyGlob(alternatives, text string) bool {
	for alt := range strings.SplitSeq(alternatives, "|") {
		if alt == text || strings.Contains(alt, "*") && glob(alt, text) {
			return true
		}
	}
	return false
}

// glob is like path.Match, but "*" also matches "/".
func glob(pattern, text string) bool {
	ok, err := path.Match(slashless.Get().Replace(pattern), slashless.Get().Replace(text))
	return ok && err == nil
}

var slashless = lazy.Value[*strings.Replacer]{Make: func() *strings.Replacer {
	return strings.NewReplacer("/", "\x00", "[", "\x01", "]", "\x02", "?", "\x03", `\`, "\x04")
}}
