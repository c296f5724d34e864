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
func Remembered(getenv func(string) string) (list []string, err error) {
	noted, err := noted(getenv)
	for _, path := range noted {
		if info, err := os.Lstat(DefaultDir(path)); err == nil && info.IsDir() {
			list = append(list, path)
		}
	}
	return list, err
}

// Stores lists the directories of the stores of the work spaces that were noted, and of one more: of each both places, since what appears in a work space
// makes another one [DefaultDir].
func Stores(getenv func(string) string, workspace string) (list []string, err error) {
	noted, err := noted(getenv)
	for _, path := range append([]string{workspace}, noted...) {
		for _, dir := range []string{filepath.Join(path, gitDir, ethosInGit, "traces"), filepath.Join(path, ethosDir, "traces")} {
			if there(dir) && !slices.Contains(list, dir) {
				list = append(list, dir)
			}
		}
	}
	return list, err
}

// noted are the paths of [Remember], sorted.
func noted(getenv func(string) string) (list []string, err error) {
	dir, err := statedir.Open(getenv, placesName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		path, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err == nil && e.Name()[0] != '.' && filepath.IsAbs(string(path)) {
			list = append(list, string(path))
		}
	}
	slices.Sort(list)
	return list, err
}
