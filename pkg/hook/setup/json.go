package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// setting is a member that the hook needs.
type setting struct {
	path  []string
	value any
	lift  bool // removed with the hook, because it would do harm without it
	// needed says that the agent does not read the hooks with another value.
	needed bool
}

// jsonFormat is a file of JSON, with comments or without.
type jsonFormat struct {
	hooks    func(Options) []hooked // nil for none
	settings []setting
	off      *switches // nil for none
}

// errMixed is the error for a group of hooks that cannot be edited without changing the person's
// own hooks.
var errMixed = errors.New("a group of hooks has one of ethos beside one of yours: take it out by hand first")

func (f jsonFormat) wanted(o Options) []hooked {
	if f.hooks == nil {
		return nil
	}
	return f.hooks(o)
}

func (f jsonFormat) install(have []byte, o Options) ([]byte, error) {
	if len(bytes.TrimSpace(have)) == 0 {
		have = []byte("{}\n")
	}
	e, err := newEditor(have)
	if err != nil {
		return nil, err
	}
	for _, s := range f.settings {
		if err := e.set(s); err != nil {
			return nil, err
		}
	}
	if err := f.turnOn(e); err != nil {
		return nil, err
	}
	wanted := f.wanted(o)
	if err := e.drop(func(path []string, v any) bool { return !isWanted(wanted, path, v) }); err != nil {
		return nil, err
	}
	for _, h := range wanted {
		if err := e.add(h.path, h.value); err != nil {
			return nil, err
		}
	}
	return e.text, nil
}

func isWanted(list []hooked, path []string, v any) bool {
	return slices.ContainsFunc(list, func(h hooked) bool { return slices.Equal(h.path, path) && reflect.DeepEqual(plain(h.value), v) })
}

func (f jsonFormat) remove(have []byte) ([]byte, error) {
	e, err := newEditor(have)
	if err != nil {
		return nil, err
	}
	if err := e.drop(func([]string, any) bool { return true }); err != nil {
		return nil, err
	}
	for _, s := range f.settings {
		if !s.lift {
			continue
		}
		if err := e.unset(s.path, s.value); err != nil {
			return nil, err
		}
	}
	if f.bare(e) {
		return nil, nil
	}
	return e.text, nil
}

func (f jsonFormat) has(text []byte) bool {
	e, err := newEditor(text)
	return err == nil && (len(e.ours()) > 0 || slices.ContainsFunc(f.settings, func(s setting) bool {
		v := e.find(s.path)
		return s.lift && v != nil && reflect.DeepEqual(plainText(v.Pack()), plain(s.value))
	}))
}

// bare reports whether nothing is left but what install writes besides hooks.
func (f jsonFormat) bare(e *editor) bool {
	rest := &editor{}
	if !e.root.IsStandard() || rest.parse(e.text) != nil {
		return false
	}
	for _, s := range f.settings {
		if rest.unset(s.path, s.value) != nil {
			return false
		}
	}
	return len(rest.root.Value.(*hujson.Object).Members) == 0
}

// editor edits the text of a JSON file at the offsets that its parser reports.
type editor struct {
	text []byte
	root hujson.Value
}

func newEditor(text []byte) (*editor, error) {
	e := &editor{}
	return e, e.parse(text)
}

// parse parses a text. It refuses one in which an object has a name twice, because readers differ
// in which of the values they use.
func (e *editor) parse(text []byte) error {
	root, err := hujson.Parse(text)
	if err != nil {
		return unnamed(err, "hujson: ")
	}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return errors.New("it is not an object")
	}
	var twice error
	for v := range root.All() {
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			continue
		}
		seen := map[string]bool{}
		for _, m := range o.Members {
			name := m.Name.Value.(hujson.Literal).String()
			if seen[name] {
				twice = fmt.Errorf("the name %q occurs twice in one object", name)
			}
			seen[name] = true
		}
	}
	if twice == nil {
		e.text, e.root = text, root
	}
	return twice
}

// find returns the value at a path, or nil.
func (e *editor) find(path []string) *hujson.Value {
	v := &e.root
	for _, name := range path {
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			return nil
		}
		i := slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return m.Name.Value.(hujson.Literal).String() == name })
		if i < 0 {
			return nil
		}
		v = &o.Members[i].Value
	}
	return v
}

// splice replaces a part of the text. what applies the intended change to the decoded values. If
// the new text means anything else, splice refuses it.
func (e *editor) splice(from, to int, text string, what func(root any)) error {
	after := slices.Concat(e.text[:from], []byte(text), e.text[to:])
	want := plainText(e.text)
	what(want)
	if err := e.parse(after); err != nil {
		return fmt.Errorf("the edited text would not be valid: %w", err)
	}
	if !reflect.DeepEqual(plainText(after), want) {
		return errors.New("the edit would change more than ethos's own part: add it by hand, as examples/ has it")
	}
	return nil
}

// set adds a setting. If another value is there, that is an error, except that a switch is turned
// on.
func (e *editor) set(s setting) error {
	v := e.find(s.path)
	switch {
	case v == nil:
		return e.insert(s.path, s.value)
	case reflect.DeepEqual(plainText(v.Pack()), plain(s.value)):
		return nil
	case s.value == true && plainText(v.Pack()) == false:
		return e.turn(s.path, true)
	case len(s.path) == 1 && !s.needed:
		return nil // a schema that the person has chosen
	}
	hint := "change it first"
	if s.lift {
		hint += ", for single tools by their names"
	}
	return fmt.Errorf("%s is %s there, and has to be %v: %s", strings.Join(s.path, "."), bytes.TrimSpace(v.Pack()), s.value, hint)
}

func (e *editor) insert(path []string, value any) error {
	at := len(path) - 1
	for ; at > 0 && e.find(path[:at]) == nil; at-- {
		value = object{{path[at], value}}
	}
	parent := e.find(path[:at])
	o, ok := parent.Value.(*hujson.Object)
	if !ok {
		return fmt.Errorf("%s is not an object there: change it first", strings.Join(path[:at], "."))
	}
	name, err := compact(path[at])
	if err != nil {
		return err
	}
	var last *hujson.Value
	if n := len(o.Members); n > 0 {
		last = &o.Members[n-1].Value
	}
	return e.append(parent, last, string(name)+": ", value, func(root any) { put(root, path[:at+1], plain(value)) })
}

// add appends an element to the list at a path, unless it is present.
func (e *editor) add(path []string, value any) error {
	list := e.find(path)
	if list == nil {
		return e.insert(path, []any{value})
	}
	a, ok := list.Value.(*hujson.Array)
	if !ok {
		return fmt.Errorf("%s is not a list there: change it first", strings.Join(path, "."))
	}
	if have, _ := plainText(list.Pack()).([]any); slices.ContainsFunc(have, func(v any) bool { return reflect.DeepEqual(v, plain(value)) }) {
		return nil
	}
	var last *hujson.Value
	if n := len(a.Elements); n > 0 {
		last = &a.Elements[n-1]
	}
	return e.append(list, last, "", value, func(root any) {
		put(root, path, append(get(root, path).([]any), plain(value)))
	})
}

// append inserts a value before the closing bracket of in; last is the value before it.
func (e *editor) append(in, last *hujson.Value, before string, value any, what func(root any)) error {
	outer, unit := e.indent(in.StartOffset), e.unit()
	text, err := indented(value, outer+unit, unit)
	if err != nil {
		return err
	}
	added := "\n" + outer + unit + before + strings.TrimSuffix(string(text), "\n")
	closing := in.EndOffset - 1
	blank := closing - len(bytes.TrimRight(e.text[:closing], " \t\r\n"))
	if last == nil || blank == 0 || !bytes.ContainsRune(e.text[closing-blank:closing], '\n') {
		added += "\n" + outer
	} else {
		added += string(e.text[closing-blank : closing])
	}
	from := closing - blank
	if last != nil && last.AfterExtra == nil && !trailingComma(in) {
		end := last.EndOffset
		added = "," + string(e.text[end:from]) + added
		from = end
	}
	return e.splice(from, closing, added, what)
}

func trailingComma(in *hujson.Value) bool {
	switch v := in.Value.(type) {
	case *hujson.Object:
		return len(v.Members) > 0 && v.Members[len(v.Members)-1].Value.AfterExtra != nil
	case *hujson.Array:
		return len(v.Elements) > 0 && v.Elements[len(v.Elements)-1].AfterExtra != nil
	}
	return false
}

// indent returns the white space at the beginning of the line of an offset.
func (e *editor) indent(offset int) string {
	line := e.text[bytes.LastIndexByte(e.text[:offset], '\n')+1 : offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// unit returns the white space of one level, or two spaces if the text has none.
func (e *editor) unit() string {
	o := e.root.Value.(*hujson.Object)
	if len(o.Members) > 0 {
		if in := e.indent(o.Members[0].Name.StartOffset); in != "" {
			return in
		}
	}
	return "  "
}

// plainText decodes a text with encoding/json. It returns nil if the text is not valid.
func plainText(text []byte) (v any) {
	standard, err := hujson.Standardize(slices.Clone(text))
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(standard))
		d.UseNumber()
		err = d.Decode(&v)
	}
	if err != nil {
		return nil
	}
	return v
}

// plain converts a value to the form in which encoding/json decodes it.
func plain(v any) any {
	text, err := compact(v)
	if err != nil {
		return nil
	}
	return plainText(text)
}

func get(root any, path []string) any {
	for _, name := range path {
		o, _ := root.(map[string]any)
		root = o[name]
	}
	return root
}

// put sets a member; nil removes it. The objects above it must exist.
func put(root any, path []string, v any) {
	o, ok := get(root, path[:len(path)-1]).(map[string]any)
	switch {
	case !ok:
	case v == nil:
		delete(o, path[len(path)-1])
	default:
		o[path[len(path)-1]] = v
	}
}
