package record

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// DecodeStrict decodes JSON text into the struct, slice, map or scalar that v points to. Unlike
// encoding/json it compares field names exactly. It refuses unknown and duplicate names, null for a
// value that is not a pointer, numbers that do not fit, and missing fields that have the tag
// required:"true". An absent list or map becomes an empty one. The error is a [*BadLine] that names
// the field by its path, such as action.argv[1].
func DecodeStrict(text []byte, v any) error {
	return orNil(decodeText(text, v))
}

func decodeText(text []byte, v any) *BadLine {
	if !utf8.Valid(text) {
		return bad(CodeInvalidUTF8, "invalid UTF-8")
	}
	s := &scanner{b: text}
	value, err := s.skip()
	if err != nil {
		return err
	}
	if err := s.end(); err != nil {
		return err
	}
	return decode(value, reflect.ValueOf(v).Elem(), nil)
}

// orNil keeps a nil *BadLine from becoming a non-nil error.
func orNil(b *BadLine) error {
	if b == nil {
		return nil
	}
	return b
}

var rawMessage = reflect.TypeFor[json.RawMessage]()

// place is the position of a value in a record; it is formatted only for an error.
type place struct {
	within *place
	name   string // of a member
	index  int    // of an element, if name is ""
}

func (p *place) String() string {
	switch {
	case p == nil:
		return "line"
	case p.name == "":
		return p.within.String() + "[" + strconv.Itoa(p.index) + "]"
	case p.within == nil:
		return p.name
	}
	return p.within.String() + "." + p.name
}

// decode stores one checked value in v.
func decode(text []byte, v reflect.Value, at *place) *BadLine {
	return (&decoder{scanner{b: text, again: true}}).value(v.Type(), v, at)
}

// decoder decodes text in one pass. Its methods take the type of the value at the cursor and
// where to store it; if that is the zero reflect.Value, they only check it.
type decoder struct{ scanner }

func (d *decoder) value(t reflect.Type, v reflect.Value, at *place) *BadLine {
	if t == rawMessage {
		text, err := d.skip()
		if v.IsValid() {
			v.SetBytes(text)
		}
		return err
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.pointer(t, v, at)
	case reflect.Struct:
		return d.structure(t, v, at)
	case reflect.Slice:
		return d.slice(t, v, at)
	case reflect.Map:
		return d.mapping(t, v, at)
	}
	return d.scalar(t, v, at)
}

func (d *decoder) pointer(t reflect.Type, v reflect.Value, at *place) *BadLine {
	if d.peek() == 'n' {
		if v.IsValid() {
			v.SetZero()
		}
		return d.literal()
	}
	if v.IsValid() {
		v.Set(reflect.New(t.Elem()))
		v = v.Elem()
	}
	return d.value(t.Elem(), v, at)
}

func (d *decoder) scalar(t reflect.Type, v reflect.Value, at *place) *BadLine {
	if t.Kind() == reflect.String {
		return d.word(v, at)
	}
	text, err := d.skip()
	if err != nil {
		return err
	}
	var scalar reflect.Value
	switch t.Kind() {
	case reflect.Bool:
		if c := text[0]; c != 't' && c != 'f' {
			return wrongType(at, "true or false", text)
		}
		scalar = reflect.ValueOf(text[0] == 't')
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			return wrongType(at, "an integer", text)
		}
		scalar = reflect.ValueOf(n)
	case reflect.Float64:
		n, err := strconv.ParseFloat(string(text), 64)
		if err != nil || math.IsInf(n, 0) || text[0] == '"' {
			return wrongType(at, "a number", text)
		}
		scalar = reflect.ValueOf(n)
	default:
		return bad(CodeWrongType, "%s: type %s is not part of a record", at, t)
	}
	if v.IsValid() {
		v.Set(scalar.Convert(t))
	}
	return nil
}

// word decodes a string.
func (d *decoder) word(v reflect.Value, at *place) *BadLine {
	if d.peek() != '"' {
		return d.wrongType(at, "a string")
	}
	if !v.IsValid() {
		_, _, err := d.quoted()
		return err
	}
	value, err := d.text()
	v.SetString(value)
	return err
}

func (d *decoder) slice(t reflect.Type, v reflect.Value, at *place) *BadLine {
	if d.peek() != '[' {
		return d.wrongType(at, "an array")
	}
	if v.IsValid() {
		v.Set(reflect.MakeSlice(t, 0, 0))
	}
	here, element := place{within: at, index: -1}, t.Elem()
	return d.array(func() *BadLine {
		here.index++
		var item reflect.Value
		if v.IsValid() {
			n := v.Len()
			if n == v.Cap() {
				v.Grow(max(n, 2))
			}
			v.SetLen(n + 1)
			item = v.Index(n)
		}
		return d.value(element, item, &here)
	})
}

func (d *decoder) mapping(t reflect.Type, v reflect.Value, at *place) *BadLine {
	if d.peek() != '{' {
		return d.wrongType(at, "an object")
	}
	if v.IsValid() {
		v.Set(reflect.MakeMap(t))
	}
	return d.object(func(name, _ []byte) *BadLine {
		key := string(name)
		var item reflect.Value
		if v.IsValid() {
			item = reflect.New(t.Elem()).Elem()
		}
		err := d.value(t.Elem(), item, &place{within: at, name: key})
		if v.IsValid() {
			v.SetMapIndex(reflect.ValueOf(key), item)
		}
		return err
	})
}

func (d *decoder) structure(t reflect.Type, v reflect.Value, at *place) *BadLine {
	if d.peek() != '{' {
		return d.wrongType(at, "an object")
	}
	fields := fieldsOf(t)
	var set uint64
	here := place{within: at}
	next := 0 // the field that most likely follows: lines are written in the order of the fields
	err := d.members(func(name, _ []byte) *BadLine {
		f, known := next, next < len(fields.order) && fields.order[next] == string(name)
		if !known {
			f, known = fields.byName[string(name)]
		}
		if !known {
			return bad(CodeUnknownField, "%s: no field %q in schema %s", at, name, Schema)
		}
		if set&(1<<f) != 0 {
			return duplicate(name)
		}
		set |= 1 << f
		here.name, next = fields.order[f], f+1
		var field reflect.Value
		if v.IsValid() {
			field = v.Field(f)
		}
		return d.value(fields.types[f], field, &here)
	})
	if err != nil {
		return err
	}
	if missing := fields.names(fields.required &^ set); len(missing) > 0 {
		return bad(CodeMissingField, "%s: missing: %s", at, strings.Join(missing, ", "))
	}
	if v.IsValid() {
		for i := range fields.types {
			if (set|fields.omit)&(1<<i) == 0 {
				fill(v.Field(i))
			}
		}
	}
	return nil
}

// fill makes nil lists and maps empty, so that they are written as [] and {}, in v and in the
// structs, lists and pointers that it contains.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fill(v.Elem())
		}
	case reflect.Struct:
		omit := fieldsOf(v.Type()).omit
		for i := range v.NumField() {
			if omit&(1<<i) == 0 {
				fill(v.Field(i))
			}
		}
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
	case reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		if v.Type().Elem().Kind() == reflect.Struct {
			for i := range v.Len() {
				fill(v.Index(i))
			}
		}
	}
}

// structFields is what decoding needs to know about one struct type with at most 64 fields.
type structFields struct {
	byName   map[string]int
	order    []string
	types    []reflect.Type
	required uint64 // bit i: field i has the tag required
	omit     uint64 // bit i: field i has omitempty
}

func (f *structFields) names(bits uint64) (names []string) {
	for i, name := range f.order {
		if bits&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

var fieldCache sync.Map // reflect.Type → *structFields

func fieldsOf(t reflect.Type) *structFields {
	if f, ok := fieldCache.Load(t); ok {
		return f.(*structFields)
	}
	f := &structFields{byName: make(map[string]int, t.NumField())}
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		f.byName[name] = i
		f.order, f.types = append(f.order, name), append(f.types, t.Field(i).Type)
		if t.Field(i).Tag.Get("required") == "true" {
			f.required |= 1 << i
		}
		if strings.Contains(options, "omitempty") {
			f.omit |= 1 << i
		}
	}
	fieldCache.Store(t, f)
	return f
}

// wrongType reads the value at the cursor and returns the error that it is not of the wanted type.
func (d *decoder) wrongType(at *place, want string) *BadLine {
	text, err := d.skip()
	if err != nil {
		return err
	}
	return wrongType(at, want, text)
}

func wrongType(at *place, want string, text []byte) *BadLine {
	return bad(CodeWrongType, "%s: want %s, found %s", at, want, kindOf(text))
}

func kindOf(text []byte) string {
	switch text[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f', 'n':
		return string(text)
	}
	return fmt.Sprintf("the number %.32s", text)
}
