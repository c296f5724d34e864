package statedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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

// TestMakeDirAfterAKill: a process that was killed between the directory and its note left an empty
// directory of the right name: the next one uses it, and nobody takes it for one that was noted.
func TestMakeDirAfterAKill(t *testing.T) {
	state := t.TempDir()
	getenv := func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] }
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := errors.Join(root.Mkdir("own", 0o700), MakeDir(getenv, root, "own")); err != nil {
		t.Fatal(err)
	}
	info, err := root.Lstat("own")
	if err != nil || JustMade(getenv, info) {
		t.Errorf("%v: noted", err)
	}
}

// TestJustMadeWaits: who sees the directory before its note is written waits for the note.
func TestJustMadeWaits(t *testing.T) {
	state := t.TempDir()
	getenv := func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] }
	for range 50 {
		root, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		made := make(chan error, 1)
		go func() { made <- MakeDir(getenv, root, "own") }()
		info, err := root.Lstat("own")
		for ; errors.Is(err, fs.ErrNotExist); info, err = root.Lstat("own") {
		}
		if err != nil || !JustMade(getenv, info) {
			t.Errorf("%v: seen, and not noted", err)
		}
		if err := errors.Join(<-made, root.Close()); err != nil {
			t.Fatal(err)
		}
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
		entries, err := filepath.Glob(filepath.Join(work, "*"))
		text, readErr := os.ReadFile(filepath.Join(work, "own/.gitignore"))
		if err != nil || len(entries) != 1 || readErr != nil || string(text) != "*\n" {
			t.Fatalf("%q %v: %q %v", entries, err, text, readErr)
		}
	}
}

// TestMakeDirOpensDirectories: nothing is written behind what was put in the place of the directory,
// a FIFO or a link.
func TestMakeDirOpensDirectories(t *testing.T) {
	state, work := t.TempDir(), t.TempDir()
	getenv := func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] }
	root, err := os.OpenRoot(work)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := errors.Join(root.Mkdir("theirs", 0o700), root.Symlink("theirs", "link"), syscall.Mkfifo(filepath.Join(work, "fifo"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"theirs", "link", "fifo"} {
		if err := MakeDir(getenv, root, name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(work, "theirs")); err != nil || len(left) > 0 {
		t.Errorf("%v %v", left, err)
	}
}
