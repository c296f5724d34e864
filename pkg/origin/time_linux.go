package origin

import (
	"io/fs"
	"syscall"
)

// changes are the times at which a file and its content were changed last:
// st_ctim and st_mtim of inode(7), in nanoseconds.
func changes(info fs.FileInfo) (file, content int64) {
	content = info.ModTime().UnixNano()
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctim.Nano(), content
	}
	return content, content
}
