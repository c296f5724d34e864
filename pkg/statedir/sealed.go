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

// sealKey is the file with the key of [Seal], which no confined command reads.
const sealKey = "seal"

const sealBytes = 32

// Seal is what a file of ethos in a work space says to show that ethos wrote it, for
// what the text names: a clone does not have it, and a confined command cannot make
// it. It is the same for the same text as long as the state folder is.
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
