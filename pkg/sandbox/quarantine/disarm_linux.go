package quarantine

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxDisarm is the maximum depth to which a directory is searched; deeper
// directories are made inaccessible.
const maxDisarm = 100

// maxPrograms bounds the list of the files that lost their execute permission.
const maxPrograms = 100

// disarm makes something harmless before it is moved to the store: programs
// lose their execute permission, and no directory keeps a name that git
// recognises. It returns the files that lost the permission, relative to name:
// "" is name itself.
func disarm(dir int, name string, depth int) (programs []string) {
	fd, err := openBeneath(dir, name, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return nil
	}
	self := "/proc/self/fd/" + strconv.Itoa(fd)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		_ = os.Chmod(self, fs.FileMode(st.Mode&0o666))
		if st.Mode&0o111 != 0 {
			return []string{""}
		}
	case unix.S_IFDIR:
		if depth > maxDisarm {
			_ = os.Chmod(self, 0)
			return nil
		}
		_ = os.Chmod(self, 0o700)
		return disarmAll(fd, depth+1)
	}
	return nil
}

// disarmAll disarms everything in a directory. The files that it returns have
// the names that they have afterwards.
func disarmAll(dir int, depth int) (programs []string) {
	fd, err := openBeneath(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), ".")
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	for _, name := range names {
		lost := disarm(dir, name, depth)
		if strings.EqualFold(name, "HEAD") || strings.EqualFold(name, ".git") {
			if unix.Renameat2(dir, name, dir, name+suffix, unix.RENAME_NOREPLACE) == nil {
				name += suffix
			}
		}
		for _, program := range lost {
			if len(programs) < maxPrograms {
				programs = append(programs, filepath.Join(name, program))
			}
		}
	}
	return programs
}
