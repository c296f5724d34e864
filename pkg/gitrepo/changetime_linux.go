package gitrepo

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime is when a file was changed, its attributes among them: inode(7). ok is
// false where that is not known.
func changeTime(info fs.FileInfo) (t time.Time, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return t, false
	}
	return time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec)), true
}
