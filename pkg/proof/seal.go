package proof

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"ethos/pkg/record"
	"ethos/pkg/statedir"
)

const (
	folder  = "proof"
	keyName = "key"
	keyLen  = 32
)

// ErrSeal says that a result was not sealed by this user's ethos, or was changed since.
var ErrSeal = errors.New("the seal is not that of its content")

// Seal seals the tree of a result. Without a state folder there is no seal, and the tree's Reason
// says so.
func Seal(getenv func(string) string, id string, r *record.Result) error {
	tree := r.Capture.Tree
	if tree == nil || tree.Reason != "" {
		return nil
	}
	key, err := readKey(getenv, true)
	if err != nil {
		tree.Reason = err.Error()
		return err
	}
	sum, err := mac(key, id, *r)
	tree.Seal = hex.EncodeToString(sum)
	return err
}

// Check reports whether a result with a tree is as it was sealed under this id.
func Check(getenv func(string) string, id string, r record.Result) error {
	if r.Capture.Tree == nil {
		return record.ErrAbsent
	}
	key, err := readKey(getenv, false)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrSeal
	}
	if err != nil {
		return err
	}
	want, err := mac(key, id, r)
	if err != nil {
		return err
	}
	got, err := hex.DecodeString(r.Capture.Tree.Seal)
	if err != nil || !hmac.Equal(got, want) {
		return ErrSeal
	}
	return nil
}

func mac(key []byte, id string, r record.Result) ([]byte, error) {
	text, err := r.Sealing(id)
	if err != nil {
		return nil, err
	}
	h := hmac.New(sha256.New, key)
	h.Write([]byte("ethos result v1\x00"))
	h.Write(text)
	return h.Sum(nil), nil
}

// readKey reads the key, and creates it if necessary.
func readKey(getenv func(string) string, create bool) ([]byte, error) {
	open := statedir.Open
	if create {
		open = statedir.Make
	}
	dir, err := open(getenv, folder)
	if err != nil {
		return nil, fmt.Errorf("key of proofs: %w", err)
	}
	name := filepath.Join(dir, keyName)
	key, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && create {
		made := make([]byte, keyLen)
		rand.Read(made)
		if err := statedir.Place(dir, keyName, made, true); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("key of proofs: %w", err)
		}
		key, err = os.ReadFile(name) // another process was faster
	}
	if err == nil && len(key) != keyLen {
		err = fmt.Errorf("%s is not of %d bytes: remove it, and what was sealed proves nothing any more", name, keyLen)
	}
	if err != nil {
		return nil, fmt.Errorf("key of proofs: %w", err)
	}
	return key, nil
}
