package statedir

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"time"
)

// askedName is the folder with an empty file for each agent whose hook has
// called ethos. The file's modification time is that of the last event.
const askedName = "asked"

// NoteAsked records that an agent's hook called ethos at this time.
func NoteAsked(getenv func(string) string, agent string, now time.Time) error {
	if dir, err := Open(getenv, askedName); err == nil {
		if err = os.Chtimes(path.Join(dir, agent), now, now); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	dir, err := Make(getenv, askedName)
	if err != nil {
		return err
	}
	file := path.Join(dir, agent)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		return err
	}
	return os.Chtimes(file, now, now)
}

// LastAsked returns when an agent's hook last called ethos, or the zero time if
// it never did.
func LastAsked(getenv func(string) string, agent string) (time.Time, error) {
	dir, err := Open(getenv, askedName)
	if err == nil {
		var info fs.FileInfo
		if info, err = os.Lstat(path.Join(dir, agent)); err == nil {
			return info.ModTime(), nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return time.Time{}, err
}
