// Package nospace says of an error that a file system is full, and which.
//
// "no space left on device" names neither the device nor what to do, and it is said of other things than disks. [Hint] is for errors of files alone.
package nospace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Hint is the way out of a write that failed for want of room, or "" for any other error. holds is a directory on that file system; "" takes the path that the error has, if
// that is absolute.
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

// directory is where the file of an error lies.
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
	if !filepath.IsAbs(path) || strings.HasPrefix(path, "/proc/") || strings.HasPrefix(path, "/dev/") { // those lead elsewhere
		return ""
	}
	return filepath.Dir(path)
}
