package gitrepo

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime returns when a file was changed, including its attributes: inode(7). ok is false if
// that is not known.
func changeTime(info fs.FileInfo) (t time.Time, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return t, false
	}
	return time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec)), true
}
