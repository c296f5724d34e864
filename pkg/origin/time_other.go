//go:build !linux

package origin

import (
	"io/fs"
	"time"
)

func now() int64 { return time.Now().Add(-10 * time.Millisecond).UnixNano() }

// changes: no command is confined here.
func changes(info fs.FileInfo) (file, content int64) {
	content = info.ModTime().UnixNano()
	return content, content
}
