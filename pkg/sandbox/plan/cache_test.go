package plan

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"ethos/pkg/capability"
)

// cacheGroupOf is the cache group of a spec whose work space is writable.
func cacheGroupOf(spec Spec) string {
	spec.Workspace = "/srv/w"
	b := &builder{spec: spec, set: spec.Whole()}
	return b.cacheGroup([]Entry{{Path: "/srv/w", Access: ReadWrite, Exists: true, Dir: true}})
}

// changed gives a value that the field has not.
func changed(t *testing.T, name string, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString("other")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 7)
	case reflect.Slice:
		one := reflect.New(v.Type().Elem()).Elem()
		if one.Kind() != reflect.Struct {
			changed(t, name, one)
		}
		v.Set(reflect.Append(v, one))
	case reflect.Map:
		all := reflect.MakeMap(v.Type())
		for _, key := range v.MapKeys() {
			all.SetMapIndex(key, v.MapIndex(key))
		}
		all.SetMapIndex(reflect.ValueOf("OTHER"), reflect.ValueOf("x"))
		v.Set(all)
	case reflect.Struct:
		changed(t, name, v.Field(0))
	default:
		t.Fatalf("%s: a %s has no other value here", name, v.Kind())
	}
}

// leaves calls do with the address of every member of a set.
func leaves(v reflect.Value, path []int, do func(path []int)) {
	if v.Kind() != reflect.Struct {
		do(slices.Clone(path))
		return
	}
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("gone") == "" { // nobody reads it
			leaves(v.Field(i), append(path, i), do)
		}
	}
}

// TestEveryFieldIsInTheCacheGroup: whatever a command has otherwise sets its caches apart, whichever field of the set or
// of the spec it is, unless the field is listed as one by which nobody has more. A new field is apart until somebody lists it.
func TestEveryFieldIsInTheCacheGroup(t *testing.T) {
	plain := func() Spec { return Spec{Asked: capability.OnProfile("workspace")} }
	if got := cacheGroupOf(plain()); got != SharedCaches {
		t.Fatalf("a plain command is in %q", got)
	}
	seen := map[string]string{}
	hold := func(name string, spec Spec, together bool) {
		t.Helper()
		got := cacheGroupOf(spec)
		if together && name != "sandbox_profile" && got != SharedCaches || !together && got == SharedCaches {
			t.Errorf("%s: the group is %q, together %v", name, got, together)
		}
		if other := seen[got]; !together && other != "" {
			t.Errorf("%s is in the group of %s", name, other)
		}
		if !together {
			seen[got] = name
		}
	}
	left := slices.Clone(unapart)
	leaves(reflect.ValueOf(capability.Set{}), nil, func(path []int) {
		spec := plain()
		before := spec.Whole()
		changed(t, "", reflect.ValueOf(&spec.Asked.Set).Elem().FieldByIndex(path))
		after := spec.Whole()
		was, names := maps.Collect(capability.Values(&before)), []string{}
		for name, value := range capability.Values(&after) {
			if !reflect.DeepEqual(value, was[name]) {
				names = append(names, name)
			}
		}
		if len(names) != 1 {
			t.Fatalf("%s changes %q", reflect.TypeFor[capability.Set]().FieldByIndex(path).Name, names)
		}
		hold(names[0], spec, slices.Contains(unapart, names[0]))
		left = slices.DeleteFunc(left, func(name string) bool { return name == names[0] })
	})
	if len(left) > 0 {
		t.Errorf("no field has the names %q", left)
	}
	none := []string{
		"Argv", "Dir", "Workspace", "Placed", "Environ", "KeepsStore", "Require", "Managed", "Program", "Signer", "ProxyEnv", "CloseStdin", "Explain", "NewSession", "Recovered",
	}
	for i := range reflect.TypeFor[Spec]().NumField() {
		name := reflect.TypeFor[Spec]().Field(i).Name
		if name == "Asked" {
			continue
		}
		spec := plain()
		changed(t, name, reflect.ValueOf(&spec).Elem().Field(i))
		hold(name, spec, slices.Contains(none, name))
	}
}
