//go:build !linux

package gitrepo

import (
	"io/fs"
	"time"
)

// changeTime returns false on this system; files are compared by content.
func changeTime(fs.FileInfo) (t time.Time, ok bool) { return t, false }
