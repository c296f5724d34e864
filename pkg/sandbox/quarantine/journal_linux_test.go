package quarantine

import (
	"os"
	"path/filepath"
	"testing"
)

// killed is a session of a process that was killed: its lock is gone, its
// journal is not.
func (w *workspace) killed(s *Session) {
	w.t.Helper()
	if err := s.Unjournaled(); err != nil {
		w.t.Fatal(err)
	}
	s.journal.file.Close()
	s.journal = nil
	s.Close()
}

func (w *workspace) journals() []os.DirEntry {
	w.t.Helper()
	list, err := os.ReadDir(w.Journals)
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

func journaled(t *testing.T) *workspace {
	w := newWorkspace(t)
	w.Journals = t.TempDir()
	return w
}

func TestRecover(t *testing.T) {
	w := journaled(t)
	w.sh(`git init -q own; git -C own config core.editor ./mine; printf '#!/bin/sh\n' > own/.git/hooks/pre-commit; chmod 755 own/.git/hooks/pre-commit
		odd="$(printf 'a\n"\377')"; git init -q "$odd"; git -C "$odd" config core.editor ./mine`)
	s := Begin(t.Context(), w.Scope)
	w.sh(`git init -q late; git -C late config core.fsmonitor ./evil; mkdir sub; echo '{}' > sub/.mcp.json; echo 'ref: evil' > own/.git/HEAD`)
	w.killed(s)
	w.finds(Recover(t.Context(), w.Journals, w.Scope), "late/.git/config", "own/.git/HEAD", "sub/.mcp.json")
	w.sh(`git -C own symbolic-ref HEAD; test "$(git -C own config core.editor)" = ./mine; ! git -C late config core.fsmonitor`)
	if left := w.journals(); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	w.finds(Recover(t.Context(), w.Journals, w.Scope))
}

// TestRecoverWhatTheCommandCouldNotWrite: there the person may have changed
// something since.
func TestRecoverWhatTheCommandCouldNotWrite(t *testing.T) {
	w := journaled(t)
	w.sh(`git init -q own`)
	w.ReadOnly = []string{filepath.Join(w.dir, "own/.git/config"), filepath.Join(w.dir, "own/.git/hooks")}
	s := Begin(t.Context(), w.Scope)
	w.killed(s)
	w.sh(`git -C own config core.editor ./mine; printf '#!/bin/sh\n' > own/.git/hooks/pre-commit; chmod 755 own/.git/hooks/pre-commit`)
	w.finds(Recover(t.Context(), w.Journals, w.Scope))
}

// TestRecoverLeavesTheLiving: a run that is not over is judged by itself.
func TestRecoverLeavesTheLiving(t *testing.T) {
	w := journaled(t)
	s := Begin(t.Context(), w.Scope)
	defer s.Close()
	w.sh(`git init -q late; git -C late config core.fsmonitor ./evil`)
	w.finds(Recover(t.Context(), w.Journals, w.Scope))
	w.finds(s.Finish(t.Context()), "late/.git/config")
	if left := w.journals(); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// TestRecoverAnotherRoot: what stands in the place of a root is not changed.
func TestRecoverAnotherRoot(t *testing.T) {
	w := journaled(t)
	s := Begin(t.Context(), w.Scope)
	w.killed(s)
	if err := os.Rename(w.dir, w.dir+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w.sh(`git init -q theirs; git -C theirs config core.fsmonitor ./own`)
	w.finds(Recover(t.Context(), w.Journals, w.Scope))
	w.sh(`test "$(git -C theirs config core.fsmonitor)" = ./own`)
}

// TestRecoverDamaged: a journal that cannot be read is told, and stays.
func TestRecoverDamaged(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "version": "ethos run 2\nend\n", "torn": "ethos run 1\nroot \"/x\" 1\n", "line": "ethos run 1\nexec \"x\"\nend\n", "id": "ethos run 1\nknown 00\nend\n", "after": "ethos run 1\nend\nknown 00\n"} {
		t.Run(name, func(t *testing.T) {
			w := journaled(t)
			path := filepath.Join(w.Journals, "x")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			found := Recover(t.Context(), w.Journals, w.Scope)
			if len(found) != 1 || found[0].Path != path || found[0].Err == nil {
				t.Errorf("found %+v", found)
			}
		})
	}
}
