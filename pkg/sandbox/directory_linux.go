package sandbox

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openDirectory takes hold of a directory by a path that is free of links, as those of a plan are. Where a link has been put in its way since, or in the way to it, it is
// not opened (ELOOP): what lies in the work space may change at any time, and this process writes and removes there with the caller's rights. openat2(2), Linux 5.6.
func openDirectory(path string) (*os.File, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	for {
		fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
		if err == unix.EINTR || err == unix.EAGAIN { // the latter when something is renamed meanwhile
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "openat2", Path: path, Err: err}
		}
		return os.NewFile(uintptr(fd), path), nil
	}
}

// openRoot is os.OpenRoot for such a path.
func openRoot(path string) (*os.Root, error) {
	dir, err := openDirectory(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return rootAt(dir)
}

// rootAt is os.OpenRoot of an open directory, wherever it is by now.
func rootAt(dir *os.File) (*os.Root, error) {
	return os.OpenRoot("/proc/self/fd/" + strconv.Itoa(int(dir.Fd())))
}
