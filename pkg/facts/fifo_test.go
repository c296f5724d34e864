package facts

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ethos/pkg/record"
)

// TestNothingIsWaitedFor holds that a FIFO in the place of the configuration is
// an error: an agent whose hook does not answer in time runs the command.
func TestNothingIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "repo_config.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (OS{}).Names(filepath.Join(dir, "repo_config.yaml"), 1); err == nil {
		t.Error("a FIFO is a directory")
	}
	d, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Derive(record.Action{Kind: record.KindExec, Argv: []string{"ls"}, Cwd: dir, Workspace: dir}, record.Actor{Mode: record.ModeSafe})
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("%v", err)
	}
}
