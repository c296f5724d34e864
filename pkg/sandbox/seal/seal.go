// Package seal marks what ethos wrote for a purpose, so that nobody else can have written it.
package seal

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"ethos/pkg/statedir"
)

// folder holds the key, in the state folder. No confined command can read it.
const folder = "seal"

const keyBytes = 32

// Of returns a string that shows that ethos wrote a file in a workspace for
// the purpose that text names. A clone does not have it, and a confined command
// cannot compute it. The same text gives the same seal for as long as the state
// folder exists.
func Of(getenv func(string) string, text string) (string, error) {
	dir, err := statedir.Make(getenv, folder)
	if err != nil {
		return "", err
	}
	key, err := os.ReadFile(filepath.Join(dir, "key"))
	if errors.Is(err, fs.ErrNotExist) {
		fresh := make([]byte, keyBytes)
		rand.Read(fresh)
		if err = statedir.Place(dir, "key", fresh, true); err == nil || errors.Is(err, fs.ErrExist) { // another process was faster
			key, err = os.ReadFile(filepath.Join(dir, "key"))
		}
	}
	if err == nil && len(key) != keyBytes {
		err = errors.New("the key " + filepath.Join(dir, "key") + " is damaged; remove it")
	}
	if err != nil {
		return "", err
	}
	sum := hmac.New(sha256.New, key)
	sum.Write([]byte(text))
	return hex.EncodeToString(sum.Sum(nil)), nil
}
