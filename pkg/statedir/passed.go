package statedir

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// passedName is the folder with an empty file for each script that a hook without a
// store has passed on and that has not begun. Its name is the script's SHA-256.
const passedName = "passed"

// passedFor is how long such a script may wait, for a person who is asked by the agent.
const passedFor = time.Hour

// NotePassed notes that an agent's hook, which keeps no record, has let a script pass
// to a shell of ethos-sandbox. Notes that are too old go.
func NotePassed(getenv func(string) string, script string, now time.Time) error {
	dir, err := Make(getenv, passedName)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if info, fault := e.Info(); fault == nil && now.Sub(info.ModTime()) > passedFor {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	path := filepath.Join(dir, digest(script))
	return errors.Join(err, os.WriteFile(path, nil, 0o600), os.Chtimes(path, now, now))
}

// TakePassed reports whether a hook has let this script pass, once for each note.
func TakePassed(getenv func(string) string, script string, now time.Time) bool {
	dir, err := Open(getenv, passedName)
	if err != nil {
		return false
	}
	path := filepath.Join(dir, digest(script))
	info, err := os.Lstat(path)
	return err == nil && os.Remove(path) == nil && now.Sub(info.ModTime()) <= passedFor
}

func digest(script string) string {
	sum := sha256.Sum256([]byte(script))
	return hex.EncodeToString(sum[:])
}
