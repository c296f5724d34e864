//go:build !nocel

package policy

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// typePrefix precedes the name of every record type in an expression: ethos.Command.
const typePrefix = "ethos."

// structure is the CEL view of one record struct.
type structure struct {
	celType *types.Type
	names   []string // JSON names, in the order of the struct
	fields  map[string]structField
}

// structField is one field of a structure. A pointer to a string appears as a string, "" if it is
// nil; raw JSON appears as its text.
type structField struct {
	position int // in names
	index    int // in the Go struct
	celType  *types.Type
}

// schema derives CEL types from Go structs by their json tags, each struct once. After every root
// type is derived it is only read, and is then safe for concurrent use.
type schema struct {
	byType map[reflect.Type]*structure
	byName map[string]*structure
}

func newSchema() *schema {
	return &schema{byType: map[reflect.Type]*structure{}, byName: map[string]*structure{}}
}

// celType returns the CEL type of a Go type that a record can hold. It panics for a kind that no record type has.
func (s *schema) celType(t reflect.Type) *types.Type {
	switch {
	case isRaw(t):
		return types.StringType
	case t.Kind() == reflect.Pointer:
		return s.celType(t.Elem())
	case t.Kind() == reflect.String:
		return types.StringType
	case t.Kind() == reflect.Bool:
		return types.BoolType
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		return types.IntType
	case t.Kind() == reflect.Float64:
		return types.DoubleType
	case t.Kind() == reflect.Slice:
		return types.NewListType(s.celType(t.Elem()))
	case t.Kind() == reflect.Map:
		return types.NewMapType(s.celType(t.Key()), s.celType(t.Elem()))
	case t.Kind() == reflect.Struct:
		return s.structure(t).celType
	}
	panic(fmt.Sprintf("policy: no CEL type for %s", t))
}

// structure returns the view of a struct type, which is derived on first use. A type may contain
// itself.
func (s *schema) structure(t reflect.Type) *structure {
	if known := s.byType[t]; known != nil {
		return known
	}
	made := &structure{celType: types.NewObjectType(typePrefix + t.Name()), fields: map[string]structField{}}
	s.byType[t], s.byName[made.celType.TypeName()] = made, made
	names, indexes := fieldsOf(t)
	for i, name := range names {
		made.fields[name] = structField{position: i, index: indexes[i], celType: s.celType(t.Field(indexes[i]).Type)}
	}
	made.names = names
	return made
}

func (s *schema) named(name string) (*structure, bool) {
	found, ok := s.byName[name]
	return found, ok
}

// provider gives the types of the schema to the checker and the planner. An expression cannot
// construct record types.
type provider struct {
	types.Provider
	*schema
}

func (p provider) FindStructType(name string) (*types.Type, bool) {
	if st, ok := p.named(name); ok {
		return types.NewTypeTypeWithParam(st.celType), true
	}
	return p.Provider.FindStructType(name)
}

func (p provider) FindStructFieldNames(name string) ([]string, bool) {
	if st, ok := p.named(name); ok {
		return slices.Clone(st.names), true
	}
	return p.Provider.FindStructFieldNames(name)
}

func (p provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	st, ok := p.named(name)
	if !ok {
		return p.Provider.FindStructFieldType(name, field)
	}
	f, ok := st.fields[field]
	if !ok {
		return nil, false
	}
	return &types.FieldType{
		Type:    f.celType,
		IsSet:   func(target any) bool { return target.(*object).isSet(f) },
		GetFrom: func(target any) (any, error) { return target.(*object).field(f), nil },
	}, true
}

func (p provider) NewValue(name string, fields map[string]ref.Val) ref.Val {
	if _, ok := p.named(name); ok {
		return types.NewErr("%s cannot be constructed in a policy", name)
	}
	return p.Provider.NewValue(name, fields)
}
