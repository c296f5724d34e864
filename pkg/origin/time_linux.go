package origin

import (
	"io/fs"
	"syscall"
)

// changes returns the last times of change of a file and of its content: st_ctim and st_mtim of
// inode(7), in nanoseconds.
func changes(info fs.FileInfo) (file, content int64) {
	content = info.ModTime().UnixNano()
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctim.Nano(), content
	}
	return content, content
}
