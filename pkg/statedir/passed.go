package statedir

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// passedName is the folder with an empty file for each script that a hook
// without a store has allowed and that has not started yet. The file name is
// the SHA-256 of the script.
const passedName = "passed"

// passedFor is how long such a script may wait, for example while the agent
// asks its user.
const passedFor = time.Hour

// NotePassed records that an agent's hook, which keeps no records, has allowed
// a script for a shell of ethos-sandbox. It removes expired notes.
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

// TakePassed reports whether a hook has allowed this script. Each note counts
// once.
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
