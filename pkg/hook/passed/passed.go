// Package passed notes that a hook without a store has allowed a script, for the shell that will
// run it.
package passed

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"time"

	"ethos/pkg/statedir"
)

// folder is the folder of the state folder with an empty file for each script that a hook
// without a store has allowed and that has not started yet. The file name is
// the SHA-256 of the script.
const folder = "passed"

// lifetime is how long such a script may wait, for example while the agent
// asks its user.
const lifetime = time.Hour

// Note records that an agent's hook, which keeps no records, has allowed
// a script for a shell of ethos-sandbox. It removes expired notes.
func Note(getenv func(string) string, script string, now time.Time) error {
	dir, err := statedir.Make(getenv, folder)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if info, fault := e.Info(); fault == nil && now.Sub(info.ModTime()) > lifetime {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	path := filepath.Join(dir, digest(script))
	return errors.Join(err, os.WriteFile(path, nil, 0o600), os.Chtimes(path, now, now))
}

// Take reports whether a hook has allowed this script. Each note counts
// once.
func Take(getenv func(string) string, script string, now time.Time) bool {
	dir, err := statedir.Open(getenv, folder)
	if err != nil {
		return false
	}
	path := filepath.Join(dir, digest(script))
	info, err := os.Lstat(path)
	return err == nil && os.Remove(path) == nil && now.Sub(info.ModTime()) <= lifetime
}

func digest(script string) string {
	sum := sha256.Sum256([]byte(script))
	return hex.EncodeToString(sum[:])
}
