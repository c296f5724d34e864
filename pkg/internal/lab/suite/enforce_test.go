//go:build lab && linux

package suite

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/record"
)

// TestHeldEnforce : what repo_config.yaml binds to a cgroup runs in one.
func TestHeldEnforce(t *testing.T) {
	result, ran := piped(t, "cgroup")
	if c := cgroup(result); result.Status != record.StatusExited || !ran || c.State != "enforced" {
		t.Errorf("%s (%s), ran: %v, cgroup %+v", result.Status, result.Message, ran, c)
	}
	noneLeft(t)
}

// TestLackEnforce : under enforce: cgroup nothing runs without one, under enforce: available the lack is told.
func TestLackEnforce(t *testing.T) {
	if result, ran := piped(t, "cgroup"); result.Status != record.StatusDenied || result.Hint == "" || ran {
		t.Errorf("enforce: cgroup: %s (%s), hint %q, ran: %v", result.Status, result.Message, result.Hint, ran)
	}
	result, ran := piped(t, "available")
	if c := cgroup(result); result.Status != record.StatusExited || !ran || c.State != "degraded" || c.Reason == "" {
		t.Errorf("enforce: available: %s (%s), ran: %v, cgroup %+v", result.Status, result.Message, ran, c)
	}
	noneLeft(t)
}

// piped sends a command that leaves a marker through the pipe, in a work space whose configuration has this value of enforce.
func piped(t *testing.T, enforce string) (result record.Result, ran bool) {
	t.Helper()
	work := filepath.Join(t.TempDir(), "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "repo_config.yaml"), []byte("version: 1\nsandbox: {enforce: "+enforce+"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", "git init -q . && ethos-facts -- touch marker | ethos-decide | ethos-sandbox")
	var said bytes.Buffer
	cmd.Dir, cmd.Stderr = work, &said
	out, _ := cmd.Output() // its status is that of a denied record
	lines := slices.DeleteFunc(strings.Split(string(out), "\n"), func(line string) bool { return line == "" || strings.Contains(line, `"output":{`) })
	var action struct{ Result record.Result }
	if len(lines) != 1 || json.Unmarshal([]byte(lines[0]), &action) != nil {
		t.Fatalf("the pipe gave %q: %s", out, said.Bytes())
	}
	_, err := os.Lstat(filepath.Join(work, "marker"))
	return action.Result, err == nil
}

// cgroup is what the evidence of a run says of it.
func cgroup(r record.Result) (found record.Control) {
	for _, c := range r.Capture.Sandbox.Controls {
		if c.Name == "cgroup" {
			found = c
		}
	}
	return found
}
