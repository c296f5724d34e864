package gitrepo

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Change is a new list of values of one key.
type Change struct {
	Key  string // canonical
	Name string // the variable as spelled in the file; "" as in Key
	Old  []string
	New  []string
}

// ErrOtherValues is the error for a key whose values are not those that a [Change] expects.
var ErrOtherValues = errors.New("it has other values")

// EditConfig returns the text of a configuration file with the changes made. Everything else that
// git reads in it stays, in the same order, and so do comments. EditConfig parses the result before
// it returns it: if git would not read the changes in it, that is an error.
func EditConfig(text []byte, changes []Change) ([]byte, error) {
	f, err := readConfigText(text)
	if err != nil {
		return nil, err
	}
	want := f.values()
	for _, c := range changes {
		if err := f.change(c); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Key, err)
		}
		want[c.Key] = c.New
	}
	maps.DeleteFunc(want, func(_ string, values []string) bool { return len(values) == 0 })
	f.dropHeaders()
	out := f.render()
	again, err := readConfigText(out)
	if err != nil {
		return nil, err
	}
	changed := func(e Entry) bool {
		return slices.ContainsFunc(changes, func(c Change) bool { return c.Key == e.Key })
	}
	same := func(a, b Entry) bool { return a.Key == b.Key && a.Value == b.Value && a.Bare == b.Bare }
	if !maps.EqualFunc(again.values(), want, slices.Equal) ||
		!slices.EqualFunc(slices.DeleteFunc(f.entries, changed), slices.DeleteFunc(again.entries, changed), same) {
		return nil, errors.New("the text of the file does not let the change be added")
	}
	return out, nil
}

// configText is a configuration file with the positions of its parts.
type configText struct {
	text    []byte
	headers [][2]int
	entries []Entry
	cut     map[int]bool // entries that are removed, by Start
	kept    map[int]bool // headers to which something is added
	edits   []textEdit
	added   []string // sections that are appended, in order
	lines   map[string]string
}

// textEdit replaces the text from start to end.
type textEdit struct {
	start, end int
	text       string
}

func readConfigText(text []byte) (*configText, error) {
	f := &configText{text: text, cut: map[int]bool{}, kept: map[int]bool{}, lines: map[string]string{}}
	p := newConfigParser("", text, func(e Entry) error {
		f.entries = append(f.entries, e)
		return nil
	})
	p.headed = func(start, end int) { f.headers = append(f.headers, [2]int{start, end}) }
	return f, p.parse()
}

func (f *configText) values() map[string][]string {
	out := map[string][]string{}
	for _, e := range f.entries {
		out[e.Key] = append(out[e.Key], e.Value)
	}
	return out
}

// change gives a key its new values. Existing values stay if the new list begins with them.
func (f *configText) change(c Change) error {
	if !slices.Equal(f.values()[c.Key], c.Old) {
		return ErrOtherValues
	}
	fresh := c.New
	if len(c.Old) <= len(c.New) && slices.Equal(c.Old, c.New[:len(c.Old)]) {
		fresh = c.New[len(c.Old):]
	} else {
		for _, e := range f.entries {
			if e.Key == c.Key {
				f.remove(e)
			}
		}
	}
	section, variable := splitKey(c.Key)
	if c.Name != "" && strings.EqualFold(c.Name, variable) {
		variable = c.Name
	}
	var lines strings.Builder
	for _, value := range fresh {
		fmt.Fprintf(&lines, "\t%s = %s\n", variable, quoteValue(value))
	}
	if len(fresh) > 0 {
		f.insert(section, lines.String())
	}
	return nil
}

func splitKey(key string) (section, variable string) {
	at := strings.LastIndexByte(key, '.') + 1
	return key[:at], key[at:]
}

func (f *configText) remove(e Entry) {
	f.cut[e.Start] = true
	start, end := f.lineStart(e.Start), e.End
	if start < 0 { // after a header
		f.edits = append(f.edits, textEdit{e.Start, end, "\n"})
		return
	}
	f.edits = append(f.edits, textEdit{start, end, ""})
}

// lineStart returns the start of the line of pos if only blanks precede pos in it, else -1.
func (f *configText) lineStart(pos int) int {
	for pos > 0 && (f.text[pos-1] == ' ' || f.text[pos-1] == '\t') {
		pos--
	}
	if pos > 0 && f.text[pos-1] != '\n' {
		return -1
	}
	return pos
}

// insert adds lines after the last variable of a section, or adds a section at the end.
func (f *configText) insert(section, lines string) {
	for _, e := range slices.Backward(f.entries) {
		if s, _ := splitKey(e.Key); s == section {
			f.kept[f.headerOf(e)] = true
			if f.text[e.End-1] != '\n' {
				lines = "\n" + lines
			}
			f.edits = append(f.edits, textEdit{e.End, e.End, lines})
			return
		}
	}
	if !slices.Contains(f.added, section) {
		f.added = append(f.added, section)
	}
	f.lines[section] += lines
}

// headerOf returns the position of the header above an entry, or -1.
func (f *configText) headerOf(e Entry) int {
	at := -1
	for _, h := range f.headers {
		if h[0] < e.Start {
			at = h[0]
		}
	}
	return at
}

// dropHeaders removes the headers of sections that become empty.
func (f *configText) dropHeaders() {
	for i, h := range f.headers {
		next := len(f.text)
		if i+1 < len(f.headers) {
			next = f.headers[i+1][0]
		}
		start, end := f.lineStart(h[0]), next
		if next < len(f.text) {
			end = f.lineStart(next)
		}
		if start < 0 || end < 0 || f.kept[h[0]] || !f.empties(h[1], next) {
			continue
		}
		f.edits = slices.DeleteFunc(f.edits, func(e textEdit) bool { return e.start >= start && e.end > start && e.end <= end })
		f.edits = append(f.edits, textEdit{start, end, ""})
	}
}

// empties reports whether the removal of the entries from start to end leaves only blanks there.
func (f *configText) empties(start, end int) bool {
	gone, at := false, start
	for _, e := range f.entries {
		if e.Start < start || e.Start >= end {
			continue
		}
		if !f.cut[e.Start] || strings.TrimSpace(string(f.text[at:e.Start])) != "" {
			return false
		}
		gone, at = true, e.End
	}
	return gone && strings.TrimSpace(string(f.text[at:end])) == ""
}

func (f *configText) render() []byte {
	slices.SortStableFunc(f.edits, func(a, b textEdit) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return a.end - b.end
	})
	var out []byte
	at := 0
	for _, e := range f.edits {
		out = append(append(out, f.text[at:e.start]...), e.text...)
		at = e.end
	}
	out = append(out, f.text[at:]...)
	for _, section := range f.added {
		if len(out) > 0 && out[len(out)-1] != '\n' {
			out = append(out, '\n')
		}
		out = append(append(out, header(section)...), f.lines[section]...)
	}
	return out
}

// header returns the line of a section, whose name ends in a dot.
func header(section string) string {
	name, sub, ok := strings.Cut(strings.TrimSuffix(section, "."), ".")
	if !ok {
		return "[" + name + "]\n"
	}
	return "[" + name + " \"" + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(sub) + "\"]\n"
}

// quoteValue writes a value so that it can be read in only one way.
func quoteValue(value string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@+=*^~,"
	if value != "" && strings.Trim(value, plain) == "" {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(value) + `"`
}
