package compat

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// TestSample is the suite in small: two packages of Go's standard library whose
// tests use files, processes, signals and descriptors, outside and inside.
func TestSample(t *testing.T) {
	probetest.Whole(t)
	probetest.Need(t, "command:go", probetest.UserNS)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	goroot := strings.TrimSpace(string(root))
	var units []Unit
	for _, name := range []string{"io/fs", "os/signal"} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(goroot, "src", name))); err != nil {
			t.Fatal(err)
		}
		program := filepath.Join(dir, "a.test")
		build := exec.Command("go", "test", "-c", "-o", program, name)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		units = append(units, Unit{Name: name, Dir: dir, Argv: []string{program, "-test.v", "-test.short"}, Parse: ParseGo})
	}
	judge(t, newSides(t), "std", units)
}
