package plan

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"ethos/pkg/capability"
	"ethos/pkg/record"
)

// outerOf plans a command in the boundary around the process, in a real directory.
func outerOf(t *testing.T, change func(*Spec)) (*Plan, error) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := Spec{Asked: capability.OnProfile(""), Argv: []string{"true"}, Dir: dir, Workspace: dir, Environ: []string{"HOME=" + dir, "PATH=/usr/bin"}, Backend: Outer}
	change(&s)
	return Build(s, HostFiles{}, os.Geteuid())
}

// TestOuterRefusesByDefault: what a spec asks for and nobody has thought of is refused in the
// boundary of another ethos-sandbox, not left out.
func TestOuterRefusesByDefault(t *testing.T) {
	p, err := outerOf(t, func(*Spec) {})
	if err != nil || p.Backend != Outer || len(p.Paths)+len(p.Mounts)+len(p.Namespaces) > 0 {
		t.Fatalf("%+v, %v", p, err)
	}
	harmless := map[string]bool{ // of the command itself, or of its record
		"Asked": true, "Argv": true, "Dir": true, "Workspace": true, "Placed": true, "Environ": true, "KeepsStore": true, "Backend": true, "Managed": true, "Signer": true,
		"ProxyEnv": true, "Descriptors": true, "CloseStdin": true, "NewSession": true, "Recovered": true,
	}
	kind := reflect.TypeFor[Spec]()
	for i := range kind.NumField() {
		name := kind.Field(i).Name
		_, err := outerOf(t, func(s *Spec) { fill(reflect.ValueOf(s).Elem().Field(i), !harmless[name]) })
		if refusal := (*Refusal)(nil); (err == nil) != harmless[name] || err != nil && !errors.As(err, &refusal) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// fill sets a field to something.
func fill(field reflect.Value, really bool) {
	switch {
	case !really:
	case field.Kind() == reflect.String:
		field.SetString("x")
	case field.Kind() == reflect.Bool:
		field.SetBool(true)
	case field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.String:
		field.Set(reflect.ValueOf([]string{"x"}))
	}
}

// TestOuterCapabilities: beyond the profile, only what is known to hold there is accepted.
func TestOuterCapabilities(t *testing.T) {
	accepted := map[string]bool{
		"env.pass": true, "env.set": true, "cache_paths": true, "git": true, "seccomp_profile": true, "sandbox_profile": true, "tags": true, "requires_network": true, "requires_git": true, "requires_env": true,
		"granted_by": true, "timeout_seconds": true, "memory_mb": true, "pids": true, "open_files": true, "output_bytes": true,
	}
	var empty record.Capabilities
	for name := range capability.Values(&empty) {
		b := &builder{spec: Spec{Workspace: "/nowhere"}, files: newResolver(HostFiles{})}
		kept := false
		for _, k := range keptInOuter {
			kept = kept || k == name
		}
		err := b.outerHas(name, []string{"/proc/none"})
		if name == "enforce" { // see inOuter
			continue
		}
		if kept != accepted[name] {
			t.Errorf("%s: kept is %v", name, kept)
		}
		if !kept && name != "deny_read_paths" && name != "network.mode" && err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if _, err := outerOf(t, func(s *Spec) { s.Enforce = "cgroup" }); err == nil {
		t.Error("enforce: cgroup was accepted")
	}
}
