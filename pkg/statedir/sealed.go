package statedir

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// sealKey is the file with the key of [Seal]. No confined command can read it.
const sealKey = "seal"

const sealBytes = 32

// Seal returns a string that shows that ethos wrote a file in a workspace for
// the purpose that text names. A clone does not have it, and a confined command
// cannot compute it. The same text gives the same seal for as long as the state
// folder exists.
func Seal(getenv func(string) string, text string) (string, error) {
	dir, err := Make(getenv, sealKey)
	if err != nil {
		return "", err
	}
	key, err := os.ReadFile(filepath.Join(dir, "key"))
	if errors.Is(err, fs.ErrNotExist) {
		fresh := make([]byte, sealBytes)
		rand.Read(fresh)
		if err = Place(dir, "key", fresh, true); err == nil || errors.Is(err, fs.ErrExist) { // another process was faster
			key, err = os.ReadFile(filepath.Join(dir, "key"))
		}
	}
	if err == nil && len(key) != sealBytes {
		err = errors.New("the key " + filepath.Join(dir, "key") + " is damaged; remove it")
	}
	if err != nil {
		return "", err
	}
	sum := hmac.New(sha256.New, key)
	sum.Write([]byte(text))
	return hex.EncodeToString(sum.Sum(nil)), nil
}
