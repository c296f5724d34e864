package nospace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"
)

func TestHint(t *testing.T) {
	full := "the file system that holds /a is full (df /a, and df -i for its inodes): make room there"
	for _, c := range []struct {
		err   error
		holds string
		want  string
	}{
		{&fs.PathError{Op: "write", Path: "/a/b", Err: syscall.ENOSPC}, "", full},
		{fmt.Errorf("evidence: %w", &os.LinkError{Op: "rename", Old: "/x/y", New: "/a/b", Err: syscall.ENOSPC}), "", full},
		{syscall.ENOSPC, "/a", full},
		{syscall.EDQUOT, "/a", "your quota on the file system that holds /a is used up (quota, df /a): make room there"},
		{&fs.PathError{Op: "write", Path: "b", Err: syscall.ENOSPC}, "", ""}, // whose path is below something else
		{syscall.ENOSPC, "", ""}, // of clone(2), inotify(7) and their like
		{&fs.PathError{Op: "write", Path: "/a/b", Err: syscall.EIO}, "", ""},
		{errors.New("x"), "/a", ""},
		{nil, "/a", ""},
	} {
		if got := Hint(c.err, c.holds); got != c.want {
			t.Errorf("%v, %q: %q, not %q", c.err, c.holds, got, c.want)
		}
	}
}
