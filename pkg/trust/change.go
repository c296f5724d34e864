package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ethos/pkg/statedir"
)

// attempts bounds how often an entry is written. The folder can go away
// meanwhile: where it was missing, a run of ethos-sandbox puts an empty one in
// its place, and takes that away when the run ends.
const attempts = 5

// Save trusts an entry in the place of the one that was there. Its digest is
// computed here.
func (m *Memory) Save(e Entry, now time.Time) error {
	if len(e.Text) > MaxText {
		return fmt.Errorf("%s is longer than %d bytes", e.Path, MaxText)
	}
	e.Digest, e.Time = Digest(e.Text), now.UTC()
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	for range attempts {
		dir, makeErr := statedir.Make(m.getenv, folder)
		if makeErr != nil {
			return makeErr
		}
		if err = apart(dir, e.Kind, e.Path); err != nil {
			return err
		}
		err = replace(dir, nameOf(e.Kind, e.Path), append(text, '\n'))
		if err == nil {
			_, err = m.Load(e.Kind, e.Path)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

// replace writes a file whole or not at all.
func replace(dir, name string, text []byte) error {
	return write(dir, name, text, (*os.File).Sync, os.Rename)
}

// place writes a file whole, and only where there is none of that name. It does
// not wait for the disk: what it keeps is of no use after the machine has gone down.
func place(dir, name string, text []byte) error {
	return write(dir, name, text, func(*os.File) error { return nil }, os.Link)
}

// write writes a file under a name of its own, and gives it its name by rename(2)
// or link(2).
func write(dir, name string, text []byte, settle func(*os.File) error, named func(from, to string) error) error {
	f, err := os.CreateTemp(dir, partial)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err := errors.Join(err, f.Chmod(0o600), settle(f), f.Close()); err != nil {
		return err
	}
	return named(f.Name(), filepath.Join(dir, name))
}

// partial begins the name of what is being written.
const partial = ".new-"

// Revoke forgets what was trusted of a path, also an entry that cannot be
// believed. It reports whether there was one.
func (m *Memory) Revoke(kind, path string) (bool, error) {
	dir, err := statedir.Open(m.getenv, folder)
	if err == nil {
		err = os.Remove(filepath.Join(dir, nameOf(kind, path)))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// List returns every entry by its path, and the errors of those that cannot be
// believed.
func (m *Memory) List() (list []Entry, bad []error, err error) {
	dir, err := statedir.Open(m.getenv, folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), partial) {
			continue
		}
		name := filepath.Join(dir, f.Name())
		e, err := load(name)
		if err == nil && nameOf(e.Kind, e.Path) != f.Name() {
			err = fmt.Errorf("%s: %w: it is about %s", name, ErrCorrupt, e.Path)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist): // revoked meanwhile
		case err != nil:
			bad = append(bad, err)
		default:
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Path+"\x00"+a.Kind, b.Path+"\x00"+b.Kind) })
	return list, bad, nil
}
