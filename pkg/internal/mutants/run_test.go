//go:build mutants

package mutants

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMutants runs the tests of every mutant: one that all of them pass has survived.
func TestMutants(t *testing.T) {
	list, err := All(root)
	if err != nil {
		t.Fatal(err)
	}
	module, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	killed, excused, survived := 0, 0, 0
	sound := map[Tests]bool{} // they pass as things are
	for _, m := range list {
		t.Run(m.Name, func(t *testing.T) {
			overlay := write(t, module, m)
			for _, tests := range m.Tests {
				if by := failing(t, module, overlay, tests); by != "" {
					if !sound[tests] {
						if already := failing(t, module, "", tests); already != "" {
							t.Fatalf("%s fails without a mutant: %s", tests.Package, already)
						}
						sound[tests] = true
					}
					killed++
					t.Logf("killed by %s", by)
					if m.Survives != "" {
						t.Errorf("it is said to survive: %s", m.Survives)
					}
					return
				}
			}
			if m.Survives != "" {
				excused++
				t.Logf("survived: %s", m.Survives)
				return
			}
			survived++
			t.Errorf("SURVIVED")
		})
	}
	t.Logf("%d mutants: %d killed, %d survived with a reason, %d survived", len(list), killed, excused, survived)
}

// write makes the overlay of a mutant: go help build, -overlay.
func write(t *testing.T, module string, m Mutant) string {
	t.Helper()
	files, err := m.Apply(module)
	if err != nil {
		t.Fatal(err)
	}
	dir, replace := t.TempDir(), map[string]string{}
	for name, text := range files {
		at := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(module, name)] = at
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return overlay
}

var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// failing runs tests and names the first that fails, "" when all pass.
func failing(t *testing.T, module, overlay string, tests Tests) string {
	t.Helper()
	args := []string{"test", "-count=1", "-failfast", "-vet=off", "-timeout=10m"}
	for flag, value := range map[string]string{"-overlay": overlay, "-run": tests.Run, "-skip": tests.Skip} {
		if value != "" {
			args = append(args, flag+"="+value)
		}
	}
	cmd := exec.Command("go", append(args, tests.Package)...)
	cmd.Dir = module
	if overlay != "" { // also for programs that the tests build
		cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay)
	}
	out, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	if strings.Contains(string(out), "[build failed]") || strings.Contains(string(out), "[setup failed]") {
		t.Fatalf("it cannot be built:\n%s", out)
	}
	if match := failure.FindSubmatch(out); match != nil {
		return string(match[1])
	}
	return strings.TrimSpace(string(out[:min(len(out), 200)]))
}
