package control

import (
	"errors"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/landlock"
	"ethos/pkg/sandbox/kernel/limits"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
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

// device is the node of which a stream is an open file; without a path it is none
// that the command has as well.
type device struct {
	path  string
	flags int // of open(2)
}

// deviceOf looks at a stream of this process.
func deviceOf(fd int) (d device) {
	var st, node unix.Stat_t
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFCHR {
		return d
	}
	for _, name := range plan.Devices {
		path := "/dev/" + name
		if unix.Lstat(path, &node) == nil && node.Mode&unix.S_IFMT == unix.S_IFCHR && node.Rdev == st.Rdev {
			return device{path, flags&(unix.O_ACCMODE|unix.O_APPEND|unix.O_NONBLOCK|unix.O_PATH) | unix.O_NOCTTY | unix.O_CLOEXEC}
		}
	}
	return d
}

// steps open the node of the command's root in the place of the host's: by that the
// node itself could be changed, fchmod(2) and fchown(2), which is root's.
func (d device) steps(to int, slots *steps.Slots, str func(string) steps.Arg) []steps.Step {
	if d.path == "" {
		return nil
	}
	open := step("descriptors", "openat", unix.SYS_OPENAT, d.path, steps.Int(unix.AT_FDCWD), str(d.path), steps.Int(d.flags))
	open.Save = slots.New()
	return []steps.Step{open, step("descriptors", "dup3", unix.SYS_DUP3, strconv.Itoa(to), steps.From(open.Save), steps.Int(to), steps.Int(0))}
}
