// Package nospace explains an error that means a full file system, and names the file system.
//
// "no space left on device" names neither the device nor a remedy, and the kernel also uses it for
// things other than disks. [Hint] is for file errors only.
package nospace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Hint returns the remedy for a write that failed for lack of space, or "" for any other error.
// holds is a directory on that file system; if it is "", Hint uses the path in the error, if that
// is absolute.
func Hint(err error, holds string) string {
	quota := errors.Is(err, syscall.EDQUOT)
	if !quota && !errors.Is(err, syscall.ENOSPC) {
		return ""
	}
	if holds == "" {
		if holds = directory(err); holds == "" {
			return ""
		}
	}
	if quota {
		return "your quota on the file system that holds " + holds + " is used up (quota, df " + holds + "): make room there"
	}
	return "the file system that holds " + holds + " is full (df " + holds + ", and df -i for its inodes): make room there"
}

func directory(err error) string {
	var path string
	var one *fs.PathError
	var two *os.LinkError
	switch {
	case errors.As(err, &one):
		path = one.Path
	case errors.As(err, &two):
		path = two.New
	}
	if !filepath.IsAbs(path) || strings.HasPrefix(path, "/proc/") || strings.HasPrefix(path, "/dev/") { // elsewhere
		return ""
	}
	return filepath.Dir(path)
}
