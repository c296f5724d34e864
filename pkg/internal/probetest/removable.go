package probetest

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Removable has the end of a test make the directories below one removable: a
// killed run leaves directories of overlays that only root can search.
func Removable(t testing.TB, dir string) {
	t.Cleanup(func() {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				_ = os.Chmod(path, 0o700)
			}
			return nil
		})
	})
}
