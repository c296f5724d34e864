package control

import (
	"errors"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/landlock"
	"ethos/pkg/sandbox/kernel/limits"
)

// machine is what the calls of a plan depend on beside the plan and what the
// controls have taken: the kernel, the caller, and what this process has open.
type machine struct {
	uid, gid       int
	lastCapability func() int
	processors     int
	pageBytes      int
	limit          func(limits.Resource) limits.Limit // in force
	opened         func(fd int) landlock.FS           // what a stream was opened for
	device         func(fd int) device                // of which a stream is
	missing        func(path string) bool             // of the host
	readFile       func(path string) ([]byte, error)
}

// thisMachine is the one that this process runs on.
func thisMachine() *machine {
	return &machine{
		uid: os.Geteuid(), gid: os.Getegid(), lastCapability: lastCapability, processors: runtime.NumCPU(), pageBytes: os.Getpagesize(),
		limit: limits.Current, opened: opened, device: deviceOf, missing: noSuchFile, readFile: os.ReadFile,
	}
}

// lastCapability asks the kernel for its highest capability: one that it does not know is EINVAL.
func lastCapability() int {
	last := unix.CAP_LAST_CAP
	for last < 63 {
		if _, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, uintptr(last+1), 0, 0, 0); err != nil {
			break
		}
		last++
	}
	return last
}

// opened is what a stream that is a file or a device was opened for. A script that opens /dev/stdout or /dev/stdin gets no more by it than it has.
func opened(fd int) landlock.FS {
	var st unix.Stat_t
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_PATH != 0 || unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG && st.Mode&unix.S_IFMT != unix.S_IFCHR {
		return 0
	}
	const write = landlock.WriteFile | landlock.Truncate | landlock.IoctlDev
	switch flags & unix.O_ACCMODE {
	case unix.O_RDONLY:
		return landlock.ReadFile
	case unix.O_WRONLY:
		return write
	}
	return landlock.ReadFile | write
}

func noSuchFile(path string) bool {
	var st unix.Stat_t
	return errors.Is(unix.Stat(path, &st), unix.ENOENT)
}
