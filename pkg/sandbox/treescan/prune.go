package treescan

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// prune removes the memories in a folder that were written before the last
// boot, and unfinished ones that killed processes left: nothing reads them any
// more. Files of other users stay.
func (now moment) prune(dir string) {
	start := time.Unix(0, now.wall-now.machine)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !info.ModTime().Before(start) {
			continue
		}
		if path := filepath.Join(dir, e.Name()); strings.HasPrefix(e.Name(), unfinished) || isMemory(path) {
			os.Remove(path)
		}
	}
}

// unfinished begins the name of a memory that is being written.
const unfinished = ".new-"

func isMemory(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == magic
}
