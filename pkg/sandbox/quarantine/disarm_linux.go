package quarantine

import (
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxDisarm is the maximum depth to which a directory is searched; deeper
// directories are made inaccessible.
const maxDisarm = 100

// disarm makes something harmless before it is moved to the store: programs
// lose their execute permission, and no directory keeps a name that git
// recognises.
func disarm(dir int, name string, depth int) {
	fd, err := openBeneath(dir, name, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return
	}
	self := "/proc/self/fd/" + strconv.Itoa(fd)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		_ = os.Chmod(self, fs.FileMode(st.Mode&0o666))
	case unix.S_IFDIR:
		if depth > maxDisarm {
			_ = os.Chmod(self, 0)
			return
		}
		_ = os.Chmod(self, 0o700)
		disarmAll(fd, depth+1)
	}
}

// disarmAll disarms everything in a directory.
func disarmAll(dir int, depth int) {
	fd, err := openBeneath(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return
	}
	f := os.NewFile(uintptr(fd), ".")
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	for _, name := range names {
		disarm(dir, name, depth)
		if strings.EqualFold(name, "HEAD") || strings.EqualFold(name, ".git") {
			_ = unix.Renameat2(dir, name, dir, name+suffix, unix.RENAME_NOREPLACE)
		}
	}
}
