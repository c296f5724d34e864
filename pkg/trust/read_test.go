package trust

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
)

func TestReadFile(t *testing.T) {
	r := newRoom(t)
	name := r.work + "/coding_ethos.yml"
	write := func(name string, n int) func() error {
		return func() error { return os.WriteFile(name, []byte(strings.Repeat("x", n)), 0o600) }
	}
	for what, c := range map[string]struct {
		make func() error
		want string // part of the error; "" is none
		none bool   // there is no file
	}{
		"a file":                {write(name, 3), "", false},
		"the longest":           {write(name, MaxText), "", false},
		"too long":              {write(name, MaxText+1), "longer than", false},
		"nothing":               {func() error { return nil }, "no such file", true},
		"an empty directory":    {func() error { return os.Mkdir(name, 0o700) }, "not a regular file", false},
		"a directory":           {func() error { return os.MkdirAll(name+"/x", 0o700) }, "not a regular file", false},
		"a FIFO":                {func() error { return syscall.Mkfifo(name, 0o600) }, "not a regular file", false},
		"a link inside":         {func() error { return errors.Join(write(r.work+"/real", 3)(), os.Symlink("real", name)) }, "", false},
		"a link out":            {func() error { return errors.Join(write(r.work+"-real", 3)(), os.Symlink("../work-real", name)) }, "leads out of", false},
		"a link to its sibling": {func() error { return os.Symlink(r.work+"/../work/x", name) }, "a link to a file that does not exist", false},
		"a link to nothing":     {func() error { return os.Symlink("/nonexistent", name) }, "a link to a file that does not exist", false},
		"a loop":                {func() error { return os.Symlink(name, name) }, "too many links", false},
		"a device":              {func() error { return os.Symlink("/dev/zero", name) }, "leads out of", false},
	} {
		t.Run(what, func(t *testing.T) {
			if err := errors.Join(os.RemoveAll(name), c.make()); err != nil {
				t.Fatal(err)
			}
			text, err := ReadFile(name, r.work)
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) || errors.Is(err, fs.ErrNotExist) != c.none || err == nil && len(text) == 0 {
				t.Errorf("%d bytes, %v", len(text), err)
			}
		})
	}
}

func TestAround(t *testing.T) {
	r := newRoom(t)
	for _, dir := range []string{"a/.git", "a/b/c/.git", "a/b/c/d"} {
		if err := os.MkdirAll(filepath.Join(r.work, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"f", "a/f", "a/b/f", "a/b/c/f", "a/b/c/d/f"} {
		if err := os.WriteFile(filepath.Join(r.work, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := Around(r.work+"/a/b/c/d", "f"), []string{r.work + "/a/b/c/f", r.work + "/a/f"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	probetest.Need(t, probetest.Root) // chown(2)
	if err := os.Chown(r.work+"/a/f", 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if got, want := Around(r.work+"/a/b/c/d", "f"), []string{r.work + "/a/b/c/f"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestOnce(t *testing.T) {
	r := newRoom(t)
	now := time.Now()
	c := record.Configuration{Path: "/w/f", Digest: "sha256:1"}
	for i, step := range []struct {
		session string
		c       record.Configuration
		want    bool
	}{
		{"s", c, true}, {"s", c, false}, {"t", c, true}, {"t", c, false}, {"s", c, false},
		{"s", record.Configuration{Path: "/w/f", Digest: "sha256:2"}, true}, {"s", record.Configuration{Path: "/w/g", Digest: "sha256:1"}, true},
		{"", c, true}, {"", c, true}, // which session it is, is not known
	} {
		if got := r.Once(step.session, step.c, now); got != step.want {
			t.Errorf("step %d: %t", i, got)
		}
	}
	if !New(func(string) string { return "" }).Once("s", c, now) {
		t.Error("without a state folder it is not said")
	}
}

// TestForget: notes of long ago go away once there are many, and no others.
func TestForget(t *testing.T) {
	r := newRoom(t)
	now := time.Now()
	dir := r.state + "/ethos/" + saidFolder
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(dir, "old")
	if err := errors.Join(os.WriteFile(old, nil, 0o600), os.Chtimes(old, now.Add(-2*oldest), now.Add(-2*oldest))); err != nil {
		t.Fatal(err)
	}
	for i := range maxSaid + 1 {
		_, before := os.Lstat(old)
		r.Once("s", record.Configuration{Path: "/" + strings.Repeat("x", i)}, now)
		if before != nil && i < maxSaid-1 {
			t.Fatalf("gone after %d", i)
		}
	}
	if _, err := os.Lstat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is kept: %v", err)
	}
	if r.Once("s", record.Configuration{Path: "/x"}, now) {
		t.Error("a note of today is gone")
	}
}
