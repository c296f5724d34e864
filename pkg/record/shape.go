package record

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// isRaw reports whether a type is json.RawMessage.
func isRaw(t reflect.Type) bool { return t == reflect.TypeFor[json.RawMessage]() }

// shape is what decoding needs to know about one type. A struct has at most 64 fields.
type shape struct {
	reflect.Type
	kind     reflect.Kind
	elem     *shape // of a pointer, list or map
	repeats  bool   // equal objects are checked once
	external bool   // encoding/json has to write its values
	order    []string
	fields   []*shape
	required uint64 // bit i: field i has the tag required
	omit     uint64 // bit i: field i has omitempty
	brief    uint64 // bit i: field i has the tag brief; see [Line.Brief]
	foreign  uint64 // bit i: encoding/json has to write field i
	other    bool   // has a field that records do not have: unnamed, embedded, or with other options
}

// raw is the kind of a [json.RawMessage].
const raw = reflect.Invalid

func (s *shape) names(bits uint64) (names []string) {
	for i, name := range s.order {
		if bits&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

var shapes sync.Map // reflect.Type → *shape

func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	made := map[reflect.Type]*shape{}
	s := newShape(t, made)
	for t, s := range made { // only whole ones
		shapes.Store(t, s)
	}
	return s
}

// newShape describes a type and those that it contains, which may include the type itself.
func newShape(t reflect.Type, made map[reflect.Type]*shape) *shape {
	if s := made[t]; s != nil {
		return s
	}
	s := &shape{Type: t, kind: t.Kind(), repeats: repeats(t), external: foreign(t)}
	made[t] = s
	switch {
	case isRaw(t):
		s.kind = raw
	case s.kind == reflect.Pointer, s.kind == reflect.Slice, s.kind == reflect.Map:
		s.elem = newShape(t.Elem(), made)
	case s.kind == reflect.Struct:
		s.addFields(made)
	}
	return s
}

func (s *shape) addFields(made map[reflect.Type]*shape) {
	n := s.NumField()
	s.order, s.fields = make([]string, n), make([]*shape, n)
	for i := range n {
		f := s.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		s.order[i], s.fields[i] = name, newShape(f.Type, made)
		if marked(f.Tag, `required:"true"`) {
			s.required |= 1 << i
		}
		if marked(f.Tag, `brief:"true"`) {
			s.brief |= 1 << i
		}
		if options == "omitempty" {
			s.omit |= 1 << i
		}
		if s.fields[i].external {
			s.foreign |= 1 << i
		}
		s.other = s.other || name == "" || name == "-" || f.Anonymous || !f.IsExported() || options != "" && options != "omitempty"
	}
}

// marked reports whether a field has a tag. To read each tag takes three times as long.
func marked(tag reflect.StructTag, mark string) bool { return strings.Contains(string(tag), mark) }
