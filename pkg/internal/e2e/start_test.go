package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNothingAtStart: no package of ours has work to do before main in the programs that start for
// each command, but package entry, which looks whether its work is done. The runtime lists the
// packages that have (runtime(1), GODEBUG=inittrace).
func TestNothingAtStart(t *testing.T) {
	dir, err := bin()
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"ethos-facts", "ethos-decide", "ethos-sandbox", "ethos-git", "ethos-trace"} {
		cmd := exec.Command(filepath.Join(dir, program), "--version")
		cmd.Env = append(environ(), "GODEBUG=inittrace=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "init runtime @") {
			t.Fatalf("%s: %v: no trace\n%s", program, err, out)
		}
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, "init ethos/") && !strings.HasPrefix(line, "init ethos/pkg/entry") || strings.HasPrefix(line, "init main ") {
				t.Errorf("%s: %s\tmake what its variables need on first use (pkg/lazy), or write it as constants", program, line)
			}
		}
	}
}
