//go:build !nocel

package policy

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// object is one struct of a record as a CEL value. A field is converted to a CEL value when it is
// first read, and kept for the next policy. An object belongs to one decision and is not safe for
// concurrent use.
type object struct {
	schema *schema
	as     *structure
	value  reflect.Value // addressable struct
	read   []ref.Val     // by structField.position
}

func (s *schema) object(v reflect.Value) *object {
	as := s.structure(v.Type())
	return &object{schema: s, as: as, value: v, read: make([]ref.Val, len(as.names))}
}

// pointer returns the struct behind the object, such as *record.Shell.
func (o *object) pointer() any { return o.value.Addr().Interface() }

func (o *object) isSet(f structField) bool { return !o.value.Field(f.index).IsZero() }

func (o *object) field(f structField) ref.Val {
	if o.read[f.position] == nil {
		o.read[f.position] = o.schema.val(o.value.Field(f.index))
	}
	return o.read[f.position]
}

// val returns the CEL value of an addressable part of a record.
func (s *schema) val(v reflect.Value) ref.Val {
	if isRaw(v.Type()) {
		return types.String(v.Bytes())
	}
	switch v.Kind() {
	case reflect.String:
		return types.String(v.String())
	case reflect.Bool:
		return types.Bool(v.Bool())
	case reflect.Int, reflect.Int64:
		return types.Int(v.Int())
	case reflect.Float64:
		return types.Double(v.Float())
	case reflect.Struct:
		return s.object(v)
	case reflect.Pointer:
		if v.IsNil() {
			return s.val(reflect.New(v.Type().Elem()).Elem())
		}
		return s.val(v.Elem())
	case reflect.Slice:
		return s.list(v)
	case reflect.Map:
		return types.NewStringStringMap(adapter{s}, v.Interface().(map[string]string))
	}
	return types.NewErr("no CEL value for %s", v.Type())
}

func (s *schema) list(v reflect.Value) ref.Val {
	if words, ok := v.Interface().([]string); ok {
		return types.NewStringList(adapter{s}, words)
	}
	elements := make([]ref.Val, v.Len())
	for i := range elements {
		elements[i] = s.val(v.Index(i))
	}
	return types.NewRefValList(adapter{s}, elements)
}

// ConvertToNative implements ref.Val; policies return bool, so only the object's own type is needed.
func (o *object) ConvertToNative(t reflect.Type) (any, error) {
	switch {
	case t == o.value.Type():
		return o.value.Interface(), nil
	case t == reflect.PointerTo(o.value.Type()):
		return o.pointer(), nil
	}
	return nil, fmt.Errorf("convert %s to %s: not supported", o.as.celType, t)
}

func (o *object) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case types.TypeType:
		return o.as.celType
	case o.as.celType:
		return o
	}
	return types.NewErr("type conversion error from '%s' to '%s'", o.as.celType, t)
}

func (o *object) Equal(other ref.Val) ref.Val {
	same, ok := other.(*object)
	return types.Bool(ok && same.value.Type() == o.value.Type() &&
		reflect.DeepEqual(o.value.Interface(), same.value.Interface()))
}

func (o *object) Type() ref.Type { return o.as.celType }

// Value implements ref.Val. The planner's field access reaches FieldType.GetFrom through it.
func (o *object) Value() any { return o }

// Get implements traits.Indexer.
func (o *object) Get(name ref.Val) ref.Val {
	f, err := o.find(name)
	if err != nil {
		return err
	}
	return o.field(f)
}

// IsSet implements traits.FieldTester.
func (o *object) IsSet(name ref.Val) ref.Val {
	f, err := o.find(name)
	if err != nil {
		return err
	}
	return types.Bool(o.isSet(f))
}

func (o *object) find(name ref.Val) (structField, ref.Val) {
	f, ok := o.as.fields[fmt.Sprint(name.Value())]
	if !ok {
		return f, types.NewErr("no such field: %v", name.Value())
	}
	return f, nil
}

func (o *object) MarshalJSON() ([]byte, error) { return json.Marshal(o.pointer()) }

// adapter converts values that cel-go itself encounters in a record.
type adapter struct{ *schema }

func (a adapter) NativeToValue(v any) ref.Val {
	if already, ok := v.(ref.Val); ok {
		return already
	}
	return types.DefaultTypeAdapter.NativeToValue(v)
}

var (
	_ traits.Indexer     = (*object)(nil)
	_ traits.FieldTester = (*object)(nil)
)
