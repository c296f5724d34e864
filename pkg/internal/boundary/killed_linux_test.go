package boundary

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
)

// TestKilled: what a command leaves whose ethos-sandbox is killed by SIGKILL is
// put aside before the next run begins, which then cannot take it for the
// person's; what the person had stays.
func TestKilled(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:git")
	dir := space(t)
	unconfined := func(script string) {
		t.Helper()
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
	}
	unconfined(`git init -q own; git -C own config core.editor ./mine`)
	cmd := sandboxed(t, dir, "run", "--", "sh", "-c", "git init -q late; git -C late config core.fsmonitor ./evil; : > ready; sleep 1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := filepath.Join(dir, "ready")
	for t.Context().Err() == nil {
		if _, err := os.Stat(ready); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	next := sandboxed(t, dir, "run", "--", "true")
	var told bytes.Buffer
	next.Stderr = &told
	if err := next.Run(); err != nil {
		t.Fatalf("the next run: %v\n%s", err, told.String())
	}
	if !strings.Contains(told.String(), "late/.git/config") || !strings.Contains(told.String(), "left by a run that was killed") {
		t.Errorf("not told: %s", told.String())
	}
	unconfined(`! git -C late config core.fsmonitor; test "$(git -C own config core.editor)" = ./mine`)
	again := sandboxed(t, dir, "run", "--", "true")
	if out, err := again.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("the run after that: %v\n%s", err, out)
	}
}
