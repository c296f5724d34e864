package record

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

func isRaw(t reflect.Type) bool { return t == reflect.TypeFor[json.RawMessage]() }

// shape is what decoding needs to know about one type. A struct has at most 64 fields.
type shape struct {
	reflect.Type
	kind     reflect.Kind
	elem     *shape    // of a pointer, list or map
	repeats  bool      // equal objects are checked once
	external bool      // encoding/json has to write its values
	once     sync.Once // of the following, which only a struct has
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

// shapeOf returns the shape of a type, with its fields if it is a struct.
func shapeOf(t reflect.Type) *shape { return outline(t).whole() }

// outline returns the shape of a type. Which fields a struct has is read when it is needed first:
// most records have only some of the structs that they could have.
func outline(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := &shape{Type: t, kind: t.Kind(), repeats: repeats(t), external: foreign(t)}
	switch s.kind {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if isRaw(t) {
			s.kind = raw
		} else {
			s.elem = outline(t.Elem())
		}
	}
	known, _ := shapes.LoadOrStore(t, s)
	return known.(*shape)
}

func (s *shape) whole() *shape {
	if s.kind == reflect.Struct {
		s.once.Do(s.readFields)
	}
	return s
}

func (s *shape) readFields() {
	n := s.NumField()
	s.order, s.fields = make([]string, n), make([]*shape, n)
	for i := range n {
		f := s.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		s.order[i], s.fields[i] = name, outline(f.Type)
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
