package record

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
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
	return decode(value, reflect.ValueOf(v).Elem(), "")
}

// orNil keeps a nil *BadLine from becoming a non-nil error.
func orNil(b *BadLine) error {
	if b == nil {
		return nil
	}
	return b
}

// decode stores one checked value in v. The name is that of the member that has the value, or "".
func decode(text []byte, v reflect.Value, name string) *BadLine {
	d := newDecoder(scanner{b: text, again: true})
	if name != "" {
		d.path = append(d.path, place{name: name})
	}
	return d.value(shapeOf(v.Type()), v)
}

// decoder decodes text in one pass. Its methods take the type of the value at the cursor and
// where to store it; if that is the zero reflect.Value, they only check it.
type decoder struct {
	scanner
	path  []place // of the value at the cursor
	brief bool    // only fields with the tag brief are stored, and of a list the first element
	done  checked // nil: every value is checked
}

// checked has values that were found to be valid, by type.
type checked map[*shape]*Repeated

func newDecoder(s scanner) *decoder { return &decoder{scanner: s, path: make([]place, 0, 8)} }

// place is one step to a value in a record.
type place struct {
	name  string // of a member
	index int    // of an element, if name is ""
}

// at returns the path of the value at the cursor.
func (d *decoder) at() string {
	var out strings.Builder
	for i, p := range d.path {
		switch {
		case p.name == "" && i == 0:
			fmt.Fprintf(&out, "line[%d]", p.index)
		case p.name == "":
			fmt.Fprintf(&out, "[%d]", p.index)
		case i == 0:
			out.WriteString(p.name)
		default:
			out.WriteString("." + p.name)
		}
	}
	return cmp.Or(out.String(), "line")
}

func (d *decoder) value(t *shape, v reflect.Value) *BadLine {
	switch t.kind {
	case reflect.String:
		return d.word(v)
	case reflect.Struct:
		return d.structure(t, v)
	case reflect.Slice:
		return d.slice(t, v)
	case reflect.Pointer:
		return d.pointer(t, v)
	case reflect.Map:
		return d.mapping(t, v)
	case raw:
		text, err := d.skip()
		if v.IsValid() {
			v.SetBytes(text)
		}
		return err
	}
	return d.scalar(t, v)
}

func (d *decoder) pointer(t *shape, v reflect.Value) *BadLine {
	if d.peek() == 'n' {
		if v.IsValid() {
			v.SetZero()
		}
		return d.literal()
	}
	if v.IsValid() {
		v.Set(reflect.New(t.elem.Type))
		v = v.Elem()
	}
	return d.value(t.elem, v)
}

func (d *decoder) scalar(t *shape, v reflect.Value) *BadLine {
	text, err := d.skip()
	if err != nil {
		return err
	}
	switch t.kind {
	case reflect.Bool:
		if c := text[0]; c != 't' && c != 'f' {
			return d.mistyped("true or false", text)
		}
		if v.IsValid() {
			v.SetBool(text[0] == 't')
		}
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			return d.mistyped("an integer", text)
		}
		if v.IsValid() {
			v.SetInt(n)
		}
	case reflect.Float64:
		n, err := strconv.ParseFloat(string(text), 64)
		if err != nil || math.IsInf(n, 0) || text[0] == '"' {
			return d.mistyped("a number", text)
		}
		if v.IsValid() {
			v.SetFloat(n)
		}
	default:
		return bad(CodeWrongType, "%s: type %s is not part of a record", d.at(), t.Type)
	}
	return nil
}

func (d *decoder) word(v reflect.Value) *BadLine {
	if d.peek() != '"' {
		return d.wrongType("a string")
	}
	if !v.IsValid() {
		_, _, err := d.quoted()
		return err
	}
	value, err := d.text()
	v.SetString(value)
	return err
}

func (d *decoder) slice(t *shape, v reflect.Value) *BadLine {
	if d.peek() != '[' {
		return d.wrongType("an array")
	}
	if v.IsValid() && !d.brief {
		v.Set(reflect.MakeSlice(t.Type, 0, 0))
	}
	at := len(d.path)
	d.path = append(d.path, place{index: -1})
	err := d.array(func() *BadLine {
		d.path[at].index++
		var item reflect.Value
		if v.IsValid() && (!d.brief || v.Len() == 0) {
			n := v.Len()
			if n == v.Cap() {
				v.Grow(max(n, 2))
			}
			v.SetLen(n + 1)
			item = v.Index(n)
		}
		return d.value(t.elem, item)
	})
	d.path = d.path[:at]
	return err
}

func (d *decoder) mapping(t *shape, v reflect.Value) *BadLine {
	if d.peek() != '{' {
		return d.wrongType("an object")
	}
	if v.IsValid() {
		v.Set(reflect.MakeMap(t.Type))
	}
	return d.object(func(name, _ []byte) *BadLine {
		key := string(name)
		var item reflect.Value
		if v.IsValid() {
			item = reflect.New(t.elem.Type).Elem()
		}
		d.path = append(d.path, place{name: key})
		err := d.value(t.elem, item)
		d.path = d.path[:len(d.path)-1]
		if v.IsValid() {
			v.SetMapIndex(reflect.ValueOf(key), item)
		}
		return err
	})
}

func (d *decoder) structure(t *shape, v reflect.Value) *BadLine {
	if d.peek() != '{' {
		return d.wrongType("an object")
	}
	if t.repeats && d.done != nil && !v.IsValid() {
		return d.repeated(t)
	}
	return d.fields(t, v)
}

// repeated checks an object, unless it is equal to an earlier one.
func (d *decoder) repeated(t *shape) *BadLine {
	known := d.done[t]
	if known == nil {
		known = &Repeated{}
		d.done[t] = known
	}
	if n := Leads(known, d.b[d.i:]); n > 0 {
		d.i += n
		return nil
	}
	start := d.i
	err := d.fields(t, reflect.Value{})
	if err == nil {
		Remember(known, d.b[start:d.i])
	}
	return err
}

func (d *decoder) fields(t *shape, v reflect.Value) *BadLine {
	if err := d.enter(); err != nil {
		return err
	}
	t.whole()
	var set uint64
	at := len(d.path)
	next := 0 // the field after the last one: lines are written in the order of the fields
	for {
		more, err := d.more(set == 0)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		f, err := d.field(t, next)
		if err != nil {
			return err
		}
		if set&(1<<f) != 0 {
			return duplicate([]byte(t.order[f]))
		}
		set |= 1 << f
		next = f + 1
		var field reflect.Value
		if v.IsValid() && (!d.brief || t.brief&(1<<f) != 0) {
			field = v.Field(f)
		}
		d.path = append(d.path, place{name: t.order[f]})
		if err := d.value(t.fields[f], field); err != nil {
			return err
		}
		d.path = d.path[:at]
	}
	if missing := t.required &^ set; missing != 0 {
		return bad(CodeMissingField, "%s: missing: %s", d.at(), strings.Join(t.names(missing), ", "))
	}
	if v.IsValid() && !d.brief {
		for i := range t.fields {
			if (set|t.omit)&(1<<i) == 0 {
				fill(v.Field(i))
			}
		}
	}
	return nil
}

// field reads a member's name, and leaves the cursor at the value. It tries the fields that are
// likely before it reads the name: the next one, and those after fields that may be absent.
func (d *decoder) field(t *shape, next int) (int, *BadLine) {
	for f := next; f < len(t.order); f++ {
		if n := keyed(d.b[d.i:], t.order[f]); n > 0 {
			d.i += n
			d.space()
			return f, nil
		}
		if t.omit&(1<<f) == 0 {
			break
		}
	}
	name, _, err := d.name()
	if err != nil {
		return 0, err
	}
	f := slices.Index(t.order, string(name))
	if f < 0 {
		return 0, bad(CodeUnknownField, "%s: no field %q in schema %s", d.at(), string(name), Schema)
	}
	return f, nil
}

// keyed returns the length of a name in quotes with its colon if the text begins with them, else 0.
func keyed(text []byte, name string) int {
	n := len(name)
	if len(text) < n+3 || text[0] != '"' || string(text[1:n+1]) != name || text[n+1] != '"' || text[n+2] != ':' {
		return 0
	}
	return n + 3
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
		omit := shapeOf(v.Type()).omit
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

// wrongType reads the value at the cursor and returns the error that it is not of the wanted type.
func (d *decoder) wrongType(want string) *BadLine {
	text, err := d.skip()
	if err != nil {
		return err
	}
	return d.mistyped(want, text)
}

func (d *decoder) mistyped(want string, text []byte) *BadLine {
	return bad(CodeWrongType, "%s: want %s, found %s", d.at(), want, kindOf(text))
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
