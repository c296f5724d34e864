package statedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestPlaceReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := Place(dir, "x", []byte("1"), true); err != nil {
		t.Fatal(err)
	}
	if err := Place(dir, "x", []byte("2"), false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v", err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "x")); string(got) != "1" || err != nil {
		t.Errorf("it holds %q, %v", got, err)
	}
	if err := Replace(dir, "x", []byte("3"), true); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); len(entries) != 1 || err != nil {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "x")); string(got) != "3" || err != nil {
		t.Errorf("it holds %q, %v", got, err)
	}
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	for _, one := range []struct{ first, second, busy bool }{
		{true, true, true}, {true, false, true}, {false, true, true}, {false, false, false},
	} {
		first, err := Lock(dir, one.first)
		if err != nil {
			t.Fatal(err)
		}
		second, err := Lock(dir, one.second)
		if errors.Is(err, ErrBusy) != one.busy {
			t.Errorf("%+v: %v", one, err)
		}
		if err == nil {
			second.Close()
		}
		first.Close()
	}
}

func TestList(t *testing.T) {
	state := t.TempDir()
	getenv := func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] }
	if names, err := List(getenv, "kind"); names != nil || err != nil {
		t.Errorf("before there is one: %q, %v", names, err)
	}
	for _, name := range []string{"b", "a", ".run-1"} {
		if _, err := Make(getenv, "kind", name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(state, Name, "kind", "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if names, err := List(getenv, "kind"); !slices.Equal(names, []string{"a", "b"}) || err != nil {
		t.Errorf("%q, %v", names, err)
	}
}

func TestRemoveTree(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tree")
	if err := os.MkdirAll(filepath.Join(dir, "closed/below"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	if err := RemoveTree(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is there: %v", err)
	}
}
