package plan

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime returns the time of the last change of a file or of what describes it. The
// kernel sets it; no call sets it back.
func changeTime(info fs.FileInfo) (t time.Time) {
	if info == nil {
		return t
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		t = time.Unix(st.Ctim.Unix())
	}
	return t
}
