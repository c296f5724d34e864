package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFile is the size limit of a configuration file, in bytes.
const maxFile = 1 << 20

// strict decodes one YAML file into Go values by their yaml tags. Every key must be known and
// unique, scalars must have the required type, and there may be no anchors, aliases or merges. The
// file therefore means what a reviewer reads.
type strict struct{ file string }

// scalarReader is implemented by types that may be written as a plain word instead of a mapping.
type scalarReader interface{ readScalar(text string) }

// mapping is implemented by types whose keys are not their fields.
type mapping interface {
	Keys() []string
	Member(key string) any // a pointer to where the value is stored
}

// located is implemented by types that record their position.
type located interface{ at(line, column int) }

// decodeYAML decodes text into v, which points to a struct. The error is a [*ConfigError]. An empty
// file leaves v unchanged.
func decodeYAML(file string, text []byte, v any) error {
	s := strict{file}
	if len(text) > maxFile {
		return &ConfigError{File: file, Message: fmt.Sprintf("the file is longer than %d bytes", maxFile)}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var root, second yaml.Node
	err := decoder.Decode(&root)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return s.syntax(text, err)
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return s.errorAt(&second, "", "the file holds more than one YAML document")
	}
	if err := s.read(root.Content[0], reflect.ValueOf(v).Elem(), "the file"); err != nil {
		return err
	}
	return nil
}

func (s strict) syntax(text []byte, err error) *ConfigError {
	f := &ConfigError{File: s.file, Hint: "the file must be valid YAML"}
	if f.Line, f.Message = SyntaxError(text, err); f.Line > 0 {
		f.Column = 1
	}
	return f
}

// SyntaxError splits an error of the YAML parser, "yaml: line 3: …", into the line, 1-based or 0 if it is not known,
// and the message. A tab in the indentation is found by its own line.
func SyntaxError(text []byte, err error) (line int, message string) {
	message = err.Error()
	if m := regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`).FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = m[2]
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	if isTab(err) {
		// The parser names the line in which the value began. It reads forward and stops at the
		// tab, so the shortest beginning of the file with this error ends in its line.
		line = 1 + sort.Search(len(lines)-1, func(n int) bool {
			return isTab(yaml.Unmarshal(bytes.Join(lines[:n+1], nil), new(yaml.Node)))
		})
	}
	// The parser names no line for an error in the first line.
	if at := max(line, 1); at <= len(lines) && bytes.HasPrefix(bytes.TrimLeft(lines[at-1], " "), []byte("\t")) {
		return at, "a tab at the beginning of a line: YAML takes spaces there"
	}
	return line, message
}

// isTab reports whether the parser found a tab in the indentation of a value of several lines.
func isTab(err error) bool {
	return err != nil && strings.Contains(err.Error(), "found a tab character")
}

func (s strict) errorAt(n *yaml.Node, hint, format string, args ...any) *ConfigError {
	return &ConfigError{File: s.file, Line: n.Line, Column: n.Column, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// read decodes a node into v; what names it in messages.
func (s strict) read(n *yaml.Node, v reflect.Value, what string) *ConfigError {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return s.errorAt(n, "write the value out", "%s: anchors and aliases are not supported", what)
	}
	if l, ok := v.Addr().Interface().(located); ok {
		l.at(n.Line, n.Column)
	}
	if word, ok := v.Addr().Interface().(scalarReader); ok && n.Kind == yaml.ScalarNode {
		return s.word(n, word, what)
	}
	if n.Tag == "!!null" {
		return s.null(n, v, what)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		return s.read(n, v.Elem(), what)
	case reflect.Struct:
		return s.structure(n, v, what)
	case reflect.Slice:
		return s.list(n, v, what)
	case reflect.Map:
		return s.table(n, v, what)
	}
	return s.scalar(n, v, what)
}

func (s strict) word(n *yaml.Node, w scalarReader, what string) *ConfigError {
	var text string
	if err := s.scalar(n, reflect.ValueOf(&text).Elem(), what); err != nil {
		return err
	}
	w.readScalar(text)
	return nil
}

// null handles an empty section, such as `sandbox:` with every line below it commented out.
func (s strict) null(n *yaml.Node, v reflect.Value, what string) *ConfigError {
	if v.Kind() == reflect.Struct {
		return nil
	}
	return s.errorAt(n, "remove the key, or give it a value", "%s has no value", what)
}

// gone returns what to use instead of a former key, or "".
func gone(key string) string {
	if key == "requires_processes" {
		return "remove it: it had no effect; every command sees only the processes that it started"
	}
	return ""
}

func (s strict) structure(n *yaml.Node, v reflect.Value, what string) *ConfigError {
	names, member := keys(v.Type()), func(key int) reflect.Value { return fieldOf(v, key) }
	if m, ok := v.Addr().Interface().(mapping); ok {
		names = m.Keys()
		member = func(key int) reflect.Value { return reflect.ValueOf(m.Member(names[key])).Elem() }
	}
	if n.Kind != yaml.MappingNode {
		return s.errorAt(n, "known keys are "+strings.Join(names, ", "), "%s must be a mapping", what)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		field := slices.Index(names, key.Value)
		switch {
		case field < 0 && gone(key.Value) != "":
			return s.errorAt(key, gone(key.Value), "key %q in %s no longer exists", key.Value, what)
		case field < 0:
			return s.errorAt(key, known(key.Value, names), "unknown key %q in %s", key.Value, what)
		case seen[key.Value]:
			return s.errorAt(key, "", "key %q occurs twice in %s", key.Value, what)
		}
		seen[key.Value] = true
		if err := s.read(value, member(field), key.Value); err != nil {
			return err
		}
	}
	return nil
}

// keys returns the yaml names of a struct's fields, in order.
func keys(t reflect.Type) (out []string) {
	for i := range t.NumField() {
		if tag := t.Field(i).Tag.Get("yaml"); tag != "" {
			out = append(out, tag)
		}
	}
	return out
}

func fieldOf(v reflect.Value, nth int) reflect.Value {
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("yaml") == "" {
			continue
		}
		if nth == 0 {
			return v.Field(i)
		}
		nth--
	}
	panic("catalog: no such field") // keys and fieldOf count the same fields
}

func (s strict) list(n *yaml.Node, v reflect.Value, what string) *ConfigError {
	if n.Kind != yaml.SequenceNode {
		return s.errorAt(n, "write it as a list: ["+n.Value+"]", "%s must be a list", what)
	}
	out := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, item := range n.Content {
		if err := s.read(item, out.Index(i), fmt.Sprintf("%s[%d]", what, i)); err != nil {
			return err
		}
	}
	v.Set(out)
	return nil
}

func (s strict) table(n *yaml.Node, v reflect.Value, what string) *ConfigError {
	if n.Kind != yaml.MappingNode {
		return s.errorAt(n, "", "%s must be a mapping", what)
	}
	v.Set(reflect.MakeMap(v.Type()))
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, item := n.Content[i], reflect.New(v.Type().Elem()).Elem()
		if v.MapIndex(reflect.ValueOf(key.Value)).IsValid() {
			return s.errorAt(key, "", "key %q occurs twice in %s", key.Value, what)
		}
		if err := s.read(n.Content[i+1], item, key.Value); err != nil {
			return err
		}
		v.SetMapIndex(reflect.ValueOf(key.Value), item)
	}
	return nil
}

func (s strict) scalar(n *yaml.Node, v reflect.Value, what string) *ConfigError {
	wrong := func(want string) *ConfigError {
		return s.errorAt(n, "", "%s must be %s", what, want)
	}
	if n.Kind != yaml.ScalarNode {
		return wrong("a single value")
	}
	switch v.Kind() {
	case reflect.String:
		if n.Tag != "!!str" {
			return s.errorAt(n, fmt.Sprintf("quote it: %q", n.Value), "%s must be a string", what)
		}
		if strings.TrimSpace(n.Value) == "" || strings.ContainsRune(n.Value, 0) {
			return wrong("a string that is not empty")
		}
		v.SetString(n.Value)
	case reflect.Bool:
		if n.Tag != "!!bool" {
			return wrong("true or false")
		}
		v.SetBool(n.Value == "true")
	case reflect.Int64, reflect.Int:
		number, err := strconv.ParseInt(n.Value, 10, 64)
		if n.Tag != "!!int" || err != nil || number < 0 {
			return wrong("a whole number, 0 or more")
		}
		v.SetInt(number)
	default:
		panic("catalog: no YAML form for " + v.Type().String()) // an error in this package's types
	}
	return nil
}
