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
	is   reflect.Type
	from func(*Input) reflect.Value // addressable
}

var variables = [...]binding{
	bind("action", func(in *Input) *record.Action { return in.Action }),
	bind("actor", func(in *Input) *record.Actor { return in.Actor }),
	bind("shell", func(in *Input) *record.Shell { return &in.Facts.Shell }),
	bind("git", func(in *Input) *[]record.Git { return &in.Facts.Git }),
	bind("files", func(in *Input) *[]record.File { return &in.Facts.Files }),
	bind("ethos", func(in *Input) *[]record.Ethos { return &in.Facts.Ethos }),
	bind("services", func(in *Input) *[]record.Service { return &in.Facts.Services }),
	bind("tool", func(in *Input) *record.Tool { return &in.Facts.Tool }),
	bind("capabilities", func(in *Input) *record.Capabilities { return &in.Facts.Capabilities }),
	bind("tool_capabilities", func(in *Input) *record.Capabilities { return &in.Facts.Tool.Capabilities }),
	bind("catalog", func(*Input) *[]record.Tool { return tools() }),
	bind("repo", func(in *Input) *record.Repo { return &in.Facts.Repo }),
	bind("findings", func(in *Input) *[]Finding { return &in.Findings }),
	bind("incomplete", func(in *Input) *[]string { return &in.Facts.Incomplete }),
}

func bind[T any](name string, from func(*Input) *T) binding {
	return binding{name, reflect.TypeFor[T](), func(in *Input) reflect.Value { return reflect.ValueOf(from(in)).Elem() }}
}

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

var rawMessage = reflect.TypeFor[json.RawMessage]()

var fieldTables sync.Map // reflect.Type → map[string]int

// fieldNamed returns the index of a field in its struct.
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
