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
		err = statedir.Replace(dir, nameOf(e.Kind, e.Path), append(text, '\n'), true)
		if err == nil {
			_, err = m.Load(e.Kind, e.Path)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

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
		if strings.HasPrefix(f.Name(), statedir.Partial) {
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
