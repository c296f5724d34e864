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

// attempts limits how often the write of an entry is tried. The folder can disappear in between:
// where it is missing, a run of ethos-sandbox creates an empty placeholder, and removes it when the
// run ends.
const attempts = 5

// Save stores e as trusted and replaces an earlier entry for the same path. It computes the digest.
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

// Revoke removes the entry of a path, even if the entry is corrupt. It reports whether there was
// one.
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

// List returns all entries ordered by path, and an error for each entry that is corrupt.
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
		case errors.Is(err, fs.ErrNotExist): // revoked in the meantime
		case err != nil:
			bad = append(bad, err)
		default:
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Path+"\x00"+a.Kind, b.Path+"\x00"+b.Kind) })
	return list, bad, nil
}
