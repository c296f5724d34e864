package treescan

import (
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
)

// TestOpenFile: a regular file is opened, and nothing that a link leads to.
func TestOpenFile(t *testing.T) {
	s := newSite(t)
	s.mkdir("d")
	s.ok(os.WriteFile(s.in("d/f"), []byte("text"), 0o644))
	s.ok(os.Symlink("d/f", s.in("link")))
	s.ok(os.Symlink("d", s.in("way")))
	s.ok(syscall.Mkfifo(s.in("pipe"), 0o600))
	f, err := OpenFile(s.in("d/f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, err := io.ReadAll(f); string(text) != "text" || err != nil {
		t.Errorf("%q %v", text, err)
	}
	for name, want := range map[string]error{"link": syscall.ELOOP, "way/f": syscall.ELOOP, "pipe": ErrNotRegular, "d": ErrNotRegular, "none": os.ErrNotExist} {
		if f, err := OpenFile(s.in(name)); !errors.Is(err, want) {
			t.Errorf("%s: %v, not %v", name, err, want)
			f.Close()
		}
	}
	if _, err := OpenFile("/proc/self/fd/0"); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a descriptor by its name: %v", err)
	}
}
