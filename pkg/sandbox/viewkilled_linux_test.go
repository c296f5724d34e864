package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/sandbox/view"
)

// TestViewKilled: when the process that applies a view is killed, the next run puts aside what git
// would run, and not what was there before.
func TestViewKilled(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	if dir := os.Getenv("ETHOS_TEST_VIEW"); dir != "" {
		v, err := view.OpenAt(os.Getenv, dir)
		if err != nil {
			t.Fatal(err)
		}
		changes, err := v.Changes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ApplyView(t.Context(), v, os.Getenv, changes)
		return
	}
	needUpper(t)
	spec := script(t, `git init -q a && mkdir -p a/.git/hooks && echo '#!/bin/sh' > a/.git/hooks/pre-commit && chmod 755 a/.git/hooks/pre-commit
		for i in $(seq 4000); do echo $i > f$i; done`)
	own := filepath.Join(spec.Workspace, "own")
	if out, err := exec.Command("sh", "-ec", `git init -q "$1"; mkdir -p "$1/.git/hooks"; echo '#!/bin/sh' > "$1/.git/hooks/pre-commit"; chmod 755 "$1/.git/hooks/pre-commit"`, "sh", own).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	v, _, ran := kept(t, spec)
	if ran.ExitCode != 0 {
		t.Fatalf("%d %s", ran.ExitCode, ran.Stderr.Text)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	planted := filepath.Join(spec.Workspace, "a/.git/hooks/pre-commit")
	there := func() bool { _, err := os.Lstat(planted); return err == nil }
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestViewKilled$")
	cmd.Env = append(spec.Environ, "ETHOS_TEST_VIEW="+v.Dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); !there() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if !there() {
		t.Fatal("the hook was not there when the process was killed")
	}
	if found := Recover(t.Context(), spec.Environ); len(found) != 1 || found[0].Path != planted || there() {
		t.Errorf("the hook stays: %v, found %+v", there(), found)
	}
	if _, err := os.Lstat(filepath.Join(own, ".git/hooks/pre-commit")); err != nil {
		t.Error("the person's own hook:", err)
	}
}
