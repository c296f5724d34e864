package sandbox

import (
	"fmt"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/mount"
)

// offered refuses what must not stand at a standard descriptor: it was opened on the host's mounts, and can be opened once more through /proc/self/fd. Outside of the
// path table Landlock says no to that. Within a writable tree it does not, so a directory would be a way round the mounts that protect, and so would be a
// protected file that was opened for reading.
func offered(p *Plan, fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("standard descriptor %d: fstat: %w", fd, err)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return refuse(CodeDeclaration, "declare the directory with --ro or --rw instead", "a standard descriptor of the command is a directory")
	case unix.S_IFREG:
		return offeredFile(p, fd)
	}
	return nil
}

func offeredFile(p *Plan, fd int) error {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDONLY {
		return err
	}
	path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	if err != nil {
		return fmt.Errorf("standard descriptor %d: %w", fd, err)
	}
	around := func(e Entry) bool { return e.Access == ReadWrite && mount.Within(path, e.Path) }
	if at := covering(p.Paths, path); at.Access == ReadWrite || !slices.ContainsFunc(p.Paths, around) {
		return nil
	}
	return refuse(CodeDeclaration, "let it come through a pipe: cat FILE | ethos-sandbox …", "the command's standard input %s is protected, and could be opened again for writing", path)
}
