package signing

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/shorttest"
)

// TestNothingIsWaitedFor: a FIFO by any name of a repository is no object, and nobody
// waits for who writes to it. The same repository without one has its objects.
func TestNothingIsWaitedFor(t *testing.T) {
	shorttest.Long(t)
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

// TestBoundsOfLooking: few names, however often, and few indexes are looked at, and
// nothing once the run has ended.
func TestBoundsOfLooking(t *testing.T) {
	a := newAda(t, "")
	git := filepath.Join(a.work, ".git")
	many := make([]string, 20000)
	for i := range many {
		many[i] = a.tree
	}
	if err := Stored(t.Context(), a.Root, git, many); err != nil {
		t.Error(err)
	}
	for i := range maxNames {
		many[i] = fmt.Sprintf("%040x", i)
	}
	if err := Stored(t.Context(), a.Root, git, many); err == nil || !strings.Contains(err.Error(), "more than 64") {
		t.Error(err)
	}
	pack := func(dir string, i int, names ...string) {
		text := []byte("\xfftOc\x00\x00\x00\x02")
		for first := range 256 {
			n := 0
			for _, name := range names {
				if oid, err := hex.DecodeString(name); err == nil && int(oid[0]) <= first {
					n++
				}
			}
			text = binary.BigEndian.AppendUint32(text, uint32(n))
		}
		for _, name := range names {
			oid, _ := hex.DecodeString(name)
			text = append(text, oid...)
		}
		write(t, filepath.Join(dir, "pack", fmt.Sprint(i, ".idx")), string(text), 0o600)
	}
	own, lent := filepath.Join(git, "objects"), filepath.Join(a.work, "lent")
	write(t, filepath.Join(own, "info/alternates"), lent+"\n", 0o600)
	wanted := []string{strings.Repeat("a", 40), strings.Repeat("b", 40)}
	pack(own, 0, wanted[0])
	pack(lent, 0, wanted[1])
	if err := Stored(t.Context(), a.Root, git, wanted); err != nil {
		t.Error(err)
	}
	for i := range maxPacks {
		pack(own, i+1)
	}
	if err := Stored(t.Context(), a.Root, git, []string{wanted[1]}); err == nil || !strings.Contains(err.Error(), "git gc") {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Stored(ended, a.Root, git, []string{wanted[1]}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
