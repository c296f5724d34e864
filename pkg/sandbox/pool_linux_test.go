package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPool: the placeholders of a run are those of the next, and nothing of them stands in the work space between.
func TestPool(t *testing.T) {
	twice(t, func(t *testing.T) {
		spec := repository(t, "stat -c '%i %n' .git/hooks .git/config.worktree .git/commondir; cat .git/commondir; ls -A .git/hooks")
		before := tree(t, spec.Workspace)
		first := execute(t, spec)
		if first.err != nil || first.ExitCode != 0 {
			t.Fatalf("%v %d: %s", first.err, first.ExitCode, first.Stderr.Text)
		}
		after := slices.DeleteFunc(tree(t, spec.Workspace), func(n string) bool { return n == ethosDir })
		if !slices.Equal(before, after) {
			t.Errorf("before %v, after %v", before, after)
		}
		second := execute(t, spec)
		if second.err != nil || second.Stdout.Text != first.Stdout.Text || strings.Count(first.Stdout.Text, "\n") != 4 {
			t.Errorf("%v: %q, then %q", second.err, first.Stdout.Text, second.Stdout.Text)
		}
	})
}

// TestPoolInUse: what the user puts where a placeholder stands stays there.
func TestPoolInUse(t *testing.T) {
	spec := repository(t, "true")
	if r := execute(t, spec); r.err != nil {
		t.Fatal(r.err)
	}
	release, done := started(t, spec)
	mine := filepath.Join(spec.Workspace, ".git/hooks", "pre-commit")
	write(t, mine, "{}")
	release()
	if r := <-done; r.err != nil {
		t.Fatal(r.err)
	}
	if got := readFile(t, mine); got != "{}" {
		t.Errorf("%s: %q", mine, got)
	}
	if _, err := os.Lstat(filepath.Join(spec.Workspace, ".git/commondir")); err == nil {
		t.Error("another placeholder was left behind")
	}
	if r := execute(t, spec); r.err != nil || readFile(t, mine) != "{}" {
		t.Errorf("after another run: %v, %q", r.err, readFile(t, mine))
	}
}

// TestPoolSpoiled: whatever lies in the pool under a placeholder's name, the placeholder is a directory and the run goes on or is refused.
func TestPoolSpoiled(t *testing.T) {
	spec := repository(t, "test -d .git/hooks && ! touch .git/hooks/x 2>/dev/null")
	if r := execute(t, spec); r.err != nil || r.ExitCode != 0 {
		t.Fatalf("%v %d", r.err, r.ExitCode)
	}
	entry := filepath.Join(spec.Workspace, ownInGit, "pool", strings.ReplaceAll(filepath.Join(spec.Workspace, ".git/hooks"), "/", "%"))
	outside := t.TempDir()
	for name, spoil := range map[string]func() error{
		"link": func() error { return os.Symlink(outside, entry) },
		"file": func() error { return os.WriteFile(entry, []byte("x"), 0o600) },
		"gone": func() error { return nil },
	} {
		if err := os.RemoveAll(entry); err != nil {
			t.Fatal(err)
		}
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		r := execute(t, spec)
		if r.err == nil && r.ExitCode != 0 {
			t.Errorf("%s: exit %d: %s", name, r.ExitCode, r.Stderr.Text)
		}
		if left := names(t, outside); len(left) > 0 {
			t.Errorf("%s: written outside: %v", name, left)
		}
		if err := os.RemoveAll(filepath.Join(spec.Workspace, ".git/hooks")); err != nil {
			t.Fatal(err)
		}
	}
}
