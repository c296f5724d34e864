package gitguard

import "golang.org/x/sys/unix"

// closed reports whether a file is there and on a mount that is read-only, so that no process that sees it there could have put it there.
func closed(path string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(path, &fs) == nil && fs.Flags&unix.ST_RDONLY != 0
}
