package control

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/sandbox/plan"
)

// TestForeignHint holds that a path of somebody else names its owner and what to
// do, also where the path itself does not exist, and that one's own does not.
func TestForeignHint(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	me := os.Geteuid()
	for _, path := range []string{dir, file, filepath.Join(dir, "no", "such"), "relative", "/", "/etc"} {
		if hint := foreignHint(path, me); hint != "" {
			t.Errorf("%s: %s", path, hint)
		}
	}
	if me == 0 {
		return // root's own files belong to everybody's machine
	}
	if hint := foreignHint(filepath.Join(dir, "no"), me+1); !strings.Contains(hint, dir+" belongs to ") {
		t.Errorf("%q", hint)
	}
}

// TestRootless holds that root is told where it may not write once confined, and
// only there.
func TestRootless(t *testing.T) {
	probetest.Need(t, "root")
	dir := t.TempDir()
	for _, c := range []struct {
		uid, gid int
		mode     os.FileMode
		refused  bool
	}{{65534, 65534, 0o755, true}, {65534, 65534, 0o777, false}, {65534, 0, 0o775, false}, {65534, 0, 0o755, true}, {65534, 65534, 0o770, true}, {0, 0, 0o700, false}, {0, 65534, 0o555, false}} {
		if err := os.Chown(dir, c.uid, c.gid); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, c.mode); err != nil {
			t.Fatal(err)
		}
		job := &Job{Plan: &plan.Plan{}}
		hint := job.rootless(dir)
		if (hint != "") != c.refused || c.refused && (!strings.Contains(hint, dir+" belongs to ") || !strings.Contains(hint, "sudo -u ")) {
			t.Errorf("%+v: %q", c, hint)
		}
		job.Plan.Owner = &plan.Owner{UID: uint32(c.uid)}
		if hint := job.rootless(dir); hint != "" {
			t.Errorf("%+v, whose owner is mapped: %q", c, hint)
		}
	}
}
