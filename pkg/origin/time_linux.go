package origin

import (
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// now is the time that the kernel would give to a file that is written now: it
// takes the clock of the last tick, up to 10 ms ago, or one that is later.
func now() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &t) != nil {
		return time.Now().Add(-10 * time.Millisecond).UnixNano()
	}
	return t.Nano()
}

// changes are the times at which a file and its content were changed last:
// st_ctim and st_mtim of inode(7), in nanoseconds.
func changes(info fs.FileInfo) (file, content int64) {
	content = info.ModTime().UnixNano()
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctim.Nano(), content
	}
	return content, content
}
