package gitguard

import "golang.org/x/sys/unix"

// closed reports whether a file exists on a read-only mount, so that no process that sees it there
// can have created it there.
func closed(path string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(path, &fs) == nil && fs.Flags&unix.ST_RDONLY != 0
}
