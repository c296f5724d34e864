package record

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// encode returns what encoding/json writes, byte for byte, without escapes for HTML. The first use
// of a type in encoding/json takes longer than everything else that a program does with one
// record, so it writes only the types that records do not usually have.
func encode(v any) ([]byte, error) {
	of := reflect.ValueOf(v)
	if !of.IsValid() || foreign(of.Type()) {
		return appendForeign(nil, of)
	}
	return appendValue(make([]byte, 0, 256), of) // most members fit
}

// foreign reports whether encoding/json has to write the values of a type. For a struct it leaves
// the fields to shapeOf.
func foreign(t reflect.Type) bool {
	if t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return true
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Struct:
		return false
	case reflect.Pointer:
		return foreign(t.Elem())
	case reflect.Slice:
		return t.Elem().Kind() == reflect.Uint8 || foreign(t.Elem()) // bytes are written in base64
	case reflect.Map:
		return t.Key().Kind() != reflect.String || foreign(t.Elem())
	}
	return true
}

// appendValue appends a value whose type is not foreign.
func appendValue(dst []byte, v reflect.Value) (_ []byte, err error) {
	switch v.Kind() {
	case reflect.String:
		return appendString(dst, v.String()), nil
	case reflect.Bool:
		return strconv.AppendBool(dst, v.Bool()), nil
	case reflect.Int, reflect.Int64:
		return strconv.AppendInt(dst, v.Int(), 10), nil
	case reflect.Struct:
		return appendStruct(dst, v)
	}
	if v.IsNil() {
		return append(dst, "null"...), nil
	}
	switch v.Kind() {
	case reflect.Slice:
		return appendSlice(dst, v)
	case reflect.Map:
		return appendMap(dst, v)
	}
	return appendValue(dst, v.Elem())
}

// appendForeign leaves a value to encoding/json.
func appendForeign(dst []byte, v reflect.Value) ([]byte, error) {
	var value any
	if v.IsValid() {
		value = v.Interface()
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return dst, err
	}
	return append(dst, bytes.TrimSuffix(text.Bytes(), []byte{'\n'})...), nil
}

func appendStruct(dst []byte, v reflect.Value) (_ []byte, err error) {
	fields := shapeOf(v.Type())
	if fields.other {
		return appendForeign(dst, v)
	}
	dst = append(dst, '{')
	start := len(dst)
	for i, name := range fields.order {
		field := v.Field(i)
		if fields.omit&(1<<i) != 0 && empty(field) {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), name...), '"', ':')
		if fields.foreign&(1<<i) != 0 {
			dst, err = appendForeign(dst, field)
		} else {
			dst, err = appendValue(dst, field)
		}
		if err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// empty reports whether omitempty omits a value.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

func appendSlice(dst []byte, v reflect.Value) (_ []byte, err error) {
	dst = append(dst, '[')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendValue(dst, v.Index(i)); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func appendMap(dst []byte, v reflect.Value) (_ []byte, err error) {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	dst = append(dst, '{')
	for i, key := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, key.String()), ':')
		if dst, err = appendValue(dst, v.MapIndex(key)); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func appendString(dst []byte, s string) []byte {
	// encoding/json replaces bytes that are not UTF-8, and escapes what ends a line in JavaScript.
	if !utf8.ValidString(s) || strings.Contains(s, "\u2028") || strings.Contains(s, "\u2029") {
		dst, _ = appendForeign(dst, reflect.ValueOf(s)) // never fails for a string
		return dst
	}
	return appendText(dst, s)
}
