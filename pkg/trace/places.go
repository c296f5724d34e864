package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"ethos/pkg/statedir"
)

// placesName is the folder of the state folder that has a file for each work
// space with a store, with the work space's path in it.
const placesName = "stores"

// Remember notes that a work space has a store, for [Remembered].
func Remember(getenv func(string) string, workspace string) error {
	sum := sha256.Sum256([]byte(workspace))
	name := hex.EncodeToString(sum[:16])
	if dir, err := statedir.Open(getenv, placesName); err == nil {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return nil
		}
	}
	dir, err := statedir.Make(getenv, placesName)
	if err != nil {
		return err
	}
	return statedir.Replace(dir, name, []byte(workspace), false)
}

// Remembered lists the work spaces that were noted and still have a store, by
// path.
func Remembered(getenv func(string) string) ([]string, error) {
	dir, err := statedir.Open(getenv, placesName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	var list []string
	for _, e := range entries {
		path, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil || e.Name()[0] == '.' || !filepath.IsAbs(string(path)) {
			continue
		}
		if info, err := os.Lstat(DefaultDir(string(path))); err == nil && info.IsDir() {
			list = append(list, string(path))
		}
	}
	slices.Sort(list)
	return list, err
}
