package policy

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	"ethos/pkg/record"
)

// binding is one variable of an expression and its value in a record.
type binding struct {
	name string
	source
}

var variables = [...]binding{
	{"action", from[record.Action](func(in *Input) *record.Action { return in.Action })},
	{"actor", from[record.Actor](func(in *Input) *record.Actor { return in.Actor })},
	{"shell", from[record.Shell](func(in *Input) *record.Shell { return &in.Facts.Shell })},
	{"git", from[[]record.Git](func(in *Input) *[]record.Git { return &in.Facts.Git })},
	{"files", from[[]record.File](func(in *Input) *[]record.File { return &in.Facts.Files })},
	{"ethos", from[[]record.Ethos](func(in *Input) *[]record.Ethos { return &in.Facts.Ethos })},
	{"services", from[[]record.Service](func(in *Input) *[]record.Service { return &in.Facts.Services })},
	{"tool", from[record.Tool](func(in *Input) *record.Tool { return &in.Facts.Tool })},
	{"capabilities", from[record.Capabilities](func(in *Input) *record.Capabilities { return &in.Facts.Capabilities })},
	{"tool_capabilities", from[record.Capabilities](func(in *Input) *record.Capabilities { return &in.Facts.Tool.Capabilities })},
	{"catalog", from[[]record.Tool](func(*Input) *[]record.Tool { return tools.Get() })},
	{"repo", from[record.Repo](func(in *Input) *record.Repo { return &in.Facts.Repo })},
	{"findings", from[[]Finding](func(in *Input) *[]Finding { return &in.Findings })},
	{"incomplete", from[[]string](func(in *Input) *[]string { return &in.Facts.Incomplete })},
}

// source is where the value of a variable comes from. The table of variables consists of functions,
// not of what functions return, so that it needs no work when a program starts.
type source interface {
	is() reflect.Type
	from(*Input) reflect.Value // addressable
}

type from[T any] func(*Input) *T

func (from[T]) is() reflect.Type { return reflect.TypeFor[T]() }

func (get from[T]) from(in *Input) reflect.Value { return reflect.ValueOf(get(in)).Elem() }

// variable returns the variable with a name. Names of iteration variables are none.
func variable(name string) (*binding, bool) {
	for i := range variables {
		if variables[i].name == name {
			return &variables[i], true
		}
	}
	return nil, false
}

// fieldsOf lists the fields of a record struct that expressions can read, in its order: by the
// name in JSON. A field that records no longer have is none.
func fieldsOf(t reflect.Type) (names []string, indexes []int) {
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" || t.Field(i).Tag.Get("gone") != "" {
			continue
		}
		names, indexes = append(names, name), append(indexes, i)
	}
	return names, indexes
}

func isRaw(t reflect.Type) bool { return t == reflect.TypeFor[json.RawMessage]() }

var fieldTables sync.Map // reflect.Type → map[string]int

func fieldNamed(t reflect.Type, name string) (int, bool) {
	known, ok := fieldTables.Load(t)
	if !ok {
		names, indexes := fieldsOf(t)
		table := make(map[string]int, len(names))
		for i, n := range names {
			table[n] = indexes[i]
		}
		known, _ = fieldTables.LoadOrStore(t, table)
	}
	i, ok := known.(map[string]int)[name]
	return i, ok
}
