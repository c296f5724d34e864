package capability

import (
	"reflect"
	"slices"
	"testing"
)

// members are the values of a set, by the addresses that the rows give.
func members(v reflect.Value, name string) map[any]string {
	if v.Kind() != reflect.Struct {
		return map[any]string{v.Addr().Interface(): name}
	}
	out := map[any]string{}
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("gone") != "" { // nobody reads it
			continue
		}
		for at, leaf := range members(v.Field(i), name+"."+v.Type().Field(i).Name) {
			out[at] = leaf
		}
	}
	return out
}

// TestEveryMemberHasOneRow: a member that is added to the record is in no
// grant, no comparison and no copy until it has a row, and its row has its JSON
// name.
func TestEveryMemberHasOneRow(t *testing.T) {
	s := new(Set)
	left := members(reflect.ValueOf(s).Elem(), "")
	for i := range fields {
		at := fields[i].at(s)
		if left[at] == "" {
			t.Errorf("%s is another row's member, or none", fields[i].name)
		}
		delete(left, at)
	}
	for _, name := range left {
		t.Errorf("%s has no row", name)
	}
}

// TestRows: what the columns of a row say goes together.
func TestRows(t *testing.T) {
	var names, flags, grants, keys []string
	for i := range fields {
		f := &fields[i]
		for list, name := range map[*[]string]string{&names: f.name, &flags: f.flag.name, &grants: f.grant.name, &keys: f.config} {
			if name != "" && slices.Contains(*list, name) {
				t.Errorf("%s stands in two rows", name)
			}
			*list = append(*list, name)
		}
		if f.kind == ordered && len(f.words) == 0 {
			t.Errorf("%s is ordered and has no words", f.name)
		}
		if (f.kind.exceeds != nil) != (f.kind.report > 0) {
			t.Errorf("%s: an excess has a rank, and nothing else has", f.name)
		}
		if f.kind == tree && f.list.String() != f.name {
			t.Errorf("%s is called %s", f.name, f.list)
		}
		if f.grant.name != "" && f.grant.form == "" && len(f.words) == 0 {
			t.Errorf("--grant %s: nothing says what stands behind the =", f.grant.name)
		}
	}
}

// TestFlagsOnAProfile: a flag adds to a profile, and takes the place of its
// words and limits.
func TestFlagsOnAProfile(t *testing.T) {
	given := map[string][]string{
		"ro": {"a", "/b?", "~/c"}, "net": {"none"}, "env": {"A", "GOPROXY=direct"}, "timeout": {"1500ms"}, "memory": {"1500K"}, "pids": {"7"},
	}
	a, err := FromFlags("lint-offline", "/w/d", func(flag string) []string { return given[flag] })
	if err != nil {
		t.Fatal(err)
	}
	s := a.Whole()
	if want := []string{"/w/d/a", "/b?", "~/c", "."}; !slices.Equal(s.ReadPaths, want) {
		t.Errorf("read_paths: %q, want %q", s.ReadPaths, want)
	}
	if s.Env.Set["GOPROXY"] != "direct" || s.Env.Set["RUFF_CACHE_DIR"] == "" || !slices.Equal(s.Env.Pass, []string{"A"}) || s.RequiresEnv || len(s.Tags) > 0 {
		t.Errorf("env %+v, requires_env %t, tags %q", s.Env, s.RequiresEnv, s.Tags)
	}
	if s.Network.Mode != "none" || s.Git != "none" || s.SandboxProfile != "lint-offline" || s.Enforce != "available" {
		t.Errorf("%+v", s)
	}
	if s.TimeoutSeconds != 2 || a.Timeout.Milliseconds() != 1500 || s.MemoryMB != 2 || a.MemoryBytes != 1500<<10 || s.Pids != 7 || s.CPUQuotaPercent != 100 {
		t.Errorf("limits of %+v, %s, %d", s, a.Timeout, a.MemoryBytes)
	}
	if base, _ := Profile("lint-offline"); !slices.Equal(base.ReadPaths, []string{"."}) || base.Env.Set["GOPROXY"] != "off" {
		t.Errorf("the profile was changed: %+v", base)
	}
}

// TestRecordedSetIsComplete: a record's lists are all there is; words and
// limits that it leaves out are those of its profile.
func TestRecordedSetIsComplete(t *testing.T) {
	a := Recorded(Set{SandboxProfile: "lint-offline", WritePaths: []string{"out"}, MemoryMB: 5})
	s := a.Whole()
	if len(s.ReadPaths)+len(s.CachePaths)+len(s.Env.Set) > 0 || !slices.Equal(s.WritePaths, []string{"out"}) {
		t.Errorf("the profile adds to what a record lists: %+v", s)
	}
	if s.MemoryMB != 5 || s.TimeoutSeconds != 300 || s.Network.Mode != "none" || s.SeccompProfile != "deny-privilege" {
		t.Errorf("%+v", s)
	}
	if unknown := Recorded(Set{SandboxProfile: "nosuch"}); unknown.Base.SandboxProfile != "nosuch" || unknown.Base.Network.Mode != "" {
		t.Errorf("%+v", unknown.Base)
	}
}
