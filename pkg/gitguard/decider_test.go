package gitguard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ethos/pkg/record"
)

// TestSiblingStatus: an answer counts if ethos-decide says that it has decided, whatever it printed.
func TestSiblingStatus(t *testing.T) {
	dir := t.TempDir()
	asked := record.NewLine("", time.Unix(1_700_000_000, 0), record.Action{Kind: record.KindExec, Argv: []string{"git", "add", "x"}, Cwd: "/", Workspace: dir}, record.Actor{Mode: record.ModeSafe})
	if err := asked.Set("facts", record.Facts{}); err != nil {
		t.Fatal(err)
	}
	subject, err := asked.Subject()
	if err != nil {
		t.Fatal(err)
	}
	if err := asked.Set("decision", record.Decision{Verdict: record.VerdictAllow, Subject: subject}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "answer"), asked.AppendTo(nil), 0o600); err != nil {
		t.Fatal(err)
	}
	asked.Delete("decision")
	for how, decided := range map[string]bool{"exit 0": true, "exit 1": true, "exit 2": false, "exit 3": false, "kill -9 $$": false} {
		program := filepath.Join(dir, "ethos-decide")
		script := fmt.Sprintf("#!/bin/sh\ncat >/dev/null; cat %s/answer; %s\n", dir, how)
		if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		decisions, err := Sibling{Program: program, Environ: []string{"PATH=" + os.Getenv("PATH")}}.Decide(t.Context(), asked)
		var refusal *Refusal
		if decided != (err == nil && len(decisions) == 1) || !decided && (!errors.As(err, &refusal) || len(decisions) > 0) {
			t.Errorf("%s: %+v, %v", how, decisions, err)
		}
	}
}

// TestInheritedVariables: ethos-decide gets what it reads, and nothing that changes what it does.
func TestInheritedVariables(t *testing.T) {
	environ := []string{"HOME=/h", "LD_PRELOAD=/x.so", "GODEBUG=x", "PATH=/bin", "GIT_DIR=/g", "XDG_STATE_HOME=/s", "ETHOS_MODE=auto", "HOMEX=1", "XDG_STATE_HOMES=/t"}
	if got, want := inherited(environ), []string{"HOME=/h", "PATH=/bin", "XDG_STATE_HOME=/s"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestNamedGitIsNotOfTheWorkTree: ETHOS_REAL_GIT names no program that came with the work tree.
func TestNamedGitIsNotOfTheWorkTree(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for forbid, want := range map[string]bool{dir: true, filepath.Join(dir, "other"): false} {
		_, err := Find(Search{Explicit: filepath.Join(dir, "git"), Forbid: forbid})
		if refused := err != nil && strings.Contains(err.Error(), "it is inside the work tree"); refused != want {
			t.Errorf("work tree %s: %v", forbid, err)
		}
	}
}
