package signing

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNothingIsWaitedFor: a FIFO by any name of a repository is no object, and nobody
// waits for who writes to it. The same repository without one has its objects.
func TestNothingIsWaitedFor(t *testing.T) {
	for _, name := range []string{"", "info", "info/alternates", "pack", "pack/x.idx", "11", "11/" + strings.Repeat("1", 38)} {
		for _, linked := range []bool{false, true} {
			a := newAda(t, "")
			git := filepath.Join(a.work, ".git")
			path := filepath.Join(git, "objects", name)
			fifo := path
			if linked {
				fifo = filepath.Join(git, "fifo")
			}
			err := errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Dir(path), 0o755), syscall.Mkfifo(fifo, 0o600))
			if linked {
				err = errors.Join(err, os.Symlink("fifo", path))
				if rel, fault := filepath.Rel(filepath.Dir(path), fifo); fault == nil {
					err = errors.Join(os.Remove(path), os.Symlink(rel, path))
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- Stored(t.Context(), a.Root, git, []string{strings.Repeat("1", 40)}) }()
			select {
			case err := <-done:
				if err == nil {
					t.Errorf("%q: there is no such object", name)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%q, link %v: it waits", name, linked)
			}
			if name != "" {
				if err := Stored(t.Context(), a.Root, git, []string{a.tree}); err != nil {
					t.Errorf("%q: %v", name, err)
				}
			}
		}
	}
}
