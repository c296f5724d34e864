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

// placesName is the subfolder of the state folder with a file for each workspace that has a store.
// The file contains the workspace's path.
const placesName = "stores"

// Remember notes that a workspace has a store, for [Remembered].
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

// Remembered lists the noted workspaces that still have a store, sorted by path.
func Remembered(getenv func(string) string) (list []string, err error) {
	noted, err := noted(getenv)
	for _, path := range noted {
		if info, err := os.Lstat(DefaultDir(path)); err == nil && info.IsDir() {
			list = append(list, path)
		}
	}
	return list, err
}

// Stores lists the store directories of the noted workspaces and of one more. It lists both
// possible places of each, because a file that appears in a workspace can change its [DefaultDir].
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

// noted returns the paths of [Remember], sorted.
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
