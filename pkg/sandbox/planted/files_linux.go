package planted

import (
	"io/fs"
	"os"
)

func names(dir string) []string {
	entries, err := os.ReadDir(dir)
	list := make([]string, len(entries))
	for i, e := range entries {
		list[i] = e.Name()
	}
	if err != nil {
		return nil
	}
	return list
}

// runnable reports whether a file can be executed, or is a link that leads to what can be, now or later.
func runnable(path string) bool {
	link, err := os.Lstat(path)
	if err != nil {
		return false
	}
	info, err := os.Stat(path)
	if err != nil {
		return link.Mode()&fs.ModeSymlink != 0
	}
	return info.Mode().IsRegular() && (info.Mode()&0o111 != 0 || link.Mode()&fs.ModeSymlink != 0)
}
