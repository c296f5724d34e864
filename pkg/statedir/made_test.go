package statedir

import (
	"os"
	"path/filepath"
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
