//go:build lab && linux

package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/record"
)

// TestLackRequired : without a cgroup, what requires one does not run.
func TestLackRequired(t *testing.T) {
	s := prepare(t, []string{"--require", "cgroup", "--memory", "64M"}, "touch", "marker")
	e := s.end(t, s.Run())
	if e.status != 125 || e.Status != "denied" || e.Hint == "" || !strings.Contains(e.stderr, "hint: ") {
		t.Errorf("status %d, %s: %s", e.status, e.Status, e.stderr)
	}
	if _, err := os.Lstat(filepath.Join(s.Dir, "marker")); err == nil {
		t.Error("the command ran")
	}
	t.Log(e.Message)
	noneLeft(t)
}

// TestLackAvailable : what only asks for limits runs with the weaker layer, and the evidence says so.
func TestLackAvailable(t *testing.T) {
	s := prepare(t, []string{"--memory", "64M"}, "touch", "marker")
	e := s.end(t, s.Run())
	c := e.control(t, "cgroup")
	if e.status != 0 || c.State != "degraded" || c.Reason == "" || e.Capture.Sandbox.CgroupEnabled {
		t.Errorf("status %d, cgroup %+v: %s", e.status, c, e.stderr)
	}
	if _, err := os.Lstat(filepath.Join(s.Dir, "marker")); err != nil {
		t.Error(err)
	}
	t.Log(c.Reason)
	noneLeft(t)
}

// TestLackMemory : the weaker layer ends a run that stays over its limit all the same.
func TestLackMemory(t *testing.T) {
	if e := run(t, []string{"--memory", "64M"}, attack(t, "keep", 500)...); e.Status != record.StatusOOM {
		t.Errorf("status %d: %s%s", e.status, e.stdout, e.stderr)
	}
}

// TestLackShared : the watch sees what no process has mapped.
func TestLackShared(t *testing.T) {
	if e := run(t, []string{"--memory", "64M"}, attack(t, "memfd", 300)...); e.status == 0 || strings.Contains(e.stdout, "held") {
		t.Errorf("status %d: %s%s", e.status, e.stdout, e.stderr)
	}
}
