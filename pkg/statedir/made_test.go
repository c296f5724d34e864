package statedir

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestMakeDir(t *testing.T) {
	state, work := t.TempDir(), t.TempDir()
	getenv := func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] }
	root, err := os.OpenRoot(work)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for range 2 { // the second time it is there
		if err := MakeDir(getenv, root, "own"); err != nil {
			t.Fatal(err)
		}
	}
	if err := root.Mkdir("theirs", 0o700); err != nil {
		t.Fatal(err)
	}
	just := func(name string) bool {
		info, err := root.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		return JustMade(getenv, info)
	}
	if !just("own") || just("theirs") {
		t.Errorf("own %v, theirs %v", just("own"), just("theirs"))
	}
	notes, err := filepath.Glob(filepath.Join(state, Name, noteName, "*"))
	if err != nil || len(notes) != 1 {
		t.Fatalf("notes: %q %v", notes, err)
	}
	old := time.Now().Add(-noteLife)
	if err := os.Chtimes(notes[0], old, old); err != nil {
		t.Fatal(err)
	}
	if just("own") {
		t.Error("an old note counts: its inode number can be another directory's by now")
	}
	if entries, err := os.ReadDir(work); err != nil || len(entries) != 2 {
		t.Errorf("left: %v %v", entries, err)
	}
}

// TestMakeDirAfterAKill: what a maker that was killed left goes, and nothing else does: not what another is at, and
// not what has something in it.
func TestMakeDirAfterAKill(t *testing.T) {
	state, work := t.TempDir(), t.TempDir()
	getenv := func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] }
	root, err := os.OpenRoot(work)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, dir := range []string{
		"own.0123456789abcdef", "own.1123456789abcdef", "own.2123456789abcdef", "own.3123456789abcdef", "own.012345", "own.x123456789abcdef",
	} {
		if err := root.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"own.1123456789abcdef/.gitignore", "own.2123456789abcdef/kept"} {
		if err := root.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	held, err := root.Open("own.3123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if err := MakeDir(getenv, root, "own"); err != nil {
		t.Fatal(err)
	}
	var left []string
	entries, err := os.ReadDir(work)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := []string{"own", "own.012345", "own.2123456789abcdef", "own.3123456789abcdef", "own.x123456789abcdef"}
	if err != nil || !slices.Equal(left, want) {
		t.Errorf("left: %q, not %q, %v", left, want, err)
	}
}

// TestMakeDirAtOnce: many makers at once make one directory, whole, and leave nothing beside it.
func TestMakeDirAtOnce(t *testing.T) {
	state := t.TempDir()
	getenv := func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] }
	for range 50 {
		work := t.TempDir()
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				root, err := os.OpenRoot(work)
				if err != nil {
					t.Error(err)
					return
				}
				defer root.Close()
				if err := MakeDir(getenv, root, "own"); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		removeLeftIn(t, work)
		entries, err := filepath.Glob(filepath.Join(work, "*"))
		text, readErr := os.ReadFile(filepath.Join(work, "own/.gitignore"))
		if err != nil || len(entries) != 1 || readErr != nil || string(text) != "*\n" {
			t.Fatalf("%q %v: %q %v", entries, err, text, readErr)
		}
	}
}

func removeLeftIn(t *testing.T, dir string) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	removeLeft(root, "own")
}

// TestMakeDirOpensDirectories: what was put in the place of a directory, a FIFO or a link, is refused at once, and
// nothing behind the link is removed. The twin is a directory.
func TestMakeDirOpensDirectories(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := errors.Join(root.Mkdir("theirs", 0o700), root.WriteFile("theirs/.gitignore", nil, 0o600), root.Symlink("theirs", "link"),
		syscall.Mkfifo(filepath.Join(root.Name(), "fifo"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"theirs": true, "link": false, "fifo": false, "absent": false} {
		opened, dir, err := openFresh(root, name)
		if (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			dir.Close()
			opened.Close()
		}
	}
	swapped, dir, err := openFresh(root, "theirs")
	if err != nil {
		t.Fatal(err)
	}
	defer swapped.Close()
	defer dir.Close()
	if err := errors.Join(root.Rename("theirs", "moved"), root.Mkdir("other", 0o700), root.WriteFile("other/.gitignore", nil, 0o600),
		root.Symlink("other", "theirs")); err != nil {
		t.Fatal(err)
	}
	removeFresh(root, "theirs", swapped)
	if _, err := root.Lstat("other/.gitignore"); err != nil {
		t.Errorf("behind the link: %v", err)
	}
}
