package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"reflect"
	"time"
)

// Marshal returns a value in the form of messages, with a hash of its type.
func Marshal(value any) ([]byte, error) {
	v := reflect.ValueOf(value)
	return appendValue(binary.BigEndian.AppendUint64(nil, layoutOf(v.Type())), v)
}

// Unmarshal sets the value that a pointer points to from the result of [Marshal].
func Unmarshal(text []byte, pointer any) error {
	v := reflect.ValueOf(pointer).Elem()
	if len(text) < 8 || binary.BigEndian.Uint64(text) != layoutOf(v.Type()) {
		return errOther
	}
	return parse(text[8:], v)
}

// parse sets a value from all of a text. On an error, the value is partly set.
func parse(text []byte, v reflect.Value) error {
	r := &wireReader{text}
	if err := r.value(v, 0); err != nil {
		return err
	}
	if len(r.text) > 0 {
		return errWire
	}
	return nil
}

func isTime(t reflect.Type) bool { return t == reflect.TypeFor[time.Time]() }

// appendValue appends a value in the form in which the two ends of a connection exchange it: the
// fields of a struct in their order, without their names. encoding/json inspects each type ahead,
// which takes a client longer than all of its messages. The number for a slice or map is its
// length plus one, or 0 for nil.
func appendValue(to []byte, v reflect.Value) (_ []byte, err error) {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(to, 1), nil
		}
		return append(to, 0), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(to, v.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.AppendUvarint(to, v.Uint()), nil
	case reflect.Float64:
		return binary.AppendUvarint(to, math.Float64bits(v.Float())), nil
	case reflect.String:
		return append(binary.AppendUvarint(to, uint64(v.Len())), v.String()...), nil
	case reflect.Pointer:
		if v.IsNil() {
			return append(to, 0), nil
		}
		return appendValue(append(to, 1), v.Elem())
	case reflect.Slice:
		if v.IsNil() {
			return append(to, 0), nil
		}
		to = binary.AppendUvarint(to, uint64(v.Len())+1)
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return append(to, v.Bytes()...), nil
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			if to, err = appendValue(to, v.Index(i)); err != nil {
				break
			}
		}
		return to, err
	case reflect.Map:
		if v.IsNil() {
			return append(to, 0), nil
		}
		to = binary.AppendUvarint(to, uint64(v.Len())+1)
		for all := v.MapRange(); all.Next() && err == nil; {
			if to, err = appendValue(to, all.Key()); err == nil {
				to, err = appendValue(to, all.Value())
			}
		}
		return to, err
	case reflect.Struct:
		return appendStruct(to, v)
	default:
		return nil, fmt.Errorf("a %v cannot be sent", v.Type())
	}
}

func appendStruct(to []byte, v reflect.Value) (_ []byte, err error) {
	if isTime(v.Type()) {
		text, err := v.Interface().(time.Time).MarshalBinary()
		return append(append(to, byte(len(text))), text...), err
	}
	for i := range v.NumField() {
		if !v.Field(i).CanInterface() {
			return nil, fmt.Errorf("%v has a field that is not exported", v.Type())
		}
		if to, err = appendValue(to, v.Field(i)); err != nil {
			return nil, err
		}
	}
	return to, nil
}

// maxDepth limits how deep values lie in one another.
const maxDepth = 64

var (
	errWire  = errors.New("invalid message")
	errOther = errors.New("the session was started by another release of ethos-sandbox")
)

type wireReader struct{ text []byte }

func (r *wireReader) value(v reflect.Value, depth int) error {
	if depth > maxDepth {
		return errWire
	}
	switch v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, size := binary.Varint(r.text)
		if size <= 0 || v.OverflowInt(n) {
			return errWire
		}
		r.text = r.text[size:]
		v.SetInt(n)
		return nil
	case reflect.Array:
		return r.elements(v, v.Len(), depth)
	case reflect.Struct:
		if !isTime(v.Type()) {
			for i := range v.NumField() {
				if err := r.value(v.Field(i), depth+1); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return r.counted(v, depth)
}

// counted sets a value that begins with an unsigned number.
func (r *wireReader) counted(v reflect.Value, depth int) error {
	n, size := binary.Uvarint(r.text)
	if size <= 0 {
		return errWire
	}
	r.text = r.text[size:]
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(n == 1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if v.OverflowUint(n) {
			return errWire
		}
		v.SetUint(n)
		return nil
	case reflect.Float64:
		v.SetFloat(math.Float64frombits(n))
		return nil
	case reflect.Slice, reflect.Map:
		if n == 0 {
			v.SetZero()
			return nil
		}
		return r.several(v, n-1, depth)
	case reflect.Pointer:
		v.SetZero()
		if n == 1 {
			v.Set(reflect.New(v.Type().Elem()))
			return r.value(v.Elem(), depth+1)
		}
	case reflect.String, reflect.Struct:
		text, err := r.next(n)
		switch {
		case err != nil:
			return err
		case v.Kind() == reflect.Struct: // a time
			return v.Addr().Interface().(*time.Time).UnmarshalBinary(text)
		}
		v.SetString(string(text))
		return nil
	default:
		return errWire
	}
	if n > 1 {
		return errWire
	}
	return nil
}

func (r *wireReader) several(v reflect.Value, n uint64, depth int) error {
	if n > uint64(len(r.text)) { // each element takes a byte
		return errWire
	}
	if v.Kind() == reflect.Map {
		v.Set(reflect.MakeMap(v.Type()))
		for range n {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			if err := errors.Join(r.value(key, depth+1), r.value(value, depth+1)); err != nil {
				return err
			}
			v.SetMapIndex(key, value)
		}
		return nil
	}
	v.Set(reflect.MakeSlice(v.Type(), int(n), int(n)))
	if v.Type().Elem().Kind() != reflect.Uint8 {
		return r.elements(v, int(n), depth)
	}
	text, err := r.next(n)
	copy(v.Bytes(), text)
	return err
}

func (r *wireReader) elements(v reflect.Value, n, depth int) error {
	for i := range n {
		if err := r.value(v.Index(i), depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (r *wireReader) next(n uint64) (text []byte, err error) {
	if n > uint64(len(r.text)) {
		return nil, errWire
	}
	text, r.text = r.text[:n], r.text[n:]
	return text, nil
}

// greeting is the first message of both ends: see [dial.Greeting].
type greeting string

func layoutOf(types ...reflect.Type) uint64 {
	sum := fnv.New64a()
	seen := map[reflect.Type]bool{}
	for _, t := range types {
		layout(sum, t, seen)
	}
	return sum.Sum64()
}

func layout(to io.Writer, t reflect.Type, seen map[reflect.Type]bool) {
	io.WriteString(to, t.String()+" "+t.Kind().String()+";")
	if seen[t] || isTime(t) {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Map:
		layout(to, t.Key(), seen)
		fallthrough
	case reflect.Pointer, reflect.Slice, reflect.Array:
		layout(to, t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			io.WriteString(to, f.Name+" ")
			layout(to, f.Type, seen)
		}
	}
}
