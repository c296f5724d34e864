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

// machine holds what the calls of a plan depend on in addition to the plan and what the
// controls have acquired: the kernel, the caller, and the descriptors of this process.
type machine struct {
	uid, gid       int
	lastCapability func() int
	boundingSet    func() uint64 // a bit for each capability
	processors     int
	pageBytes      int
	limit          func(limits.Resource) limits.Limit // the present limit
	opened         func(fd int) landlock.FS           // the rights with which a stream was opened
	device         func(fd int) device                // the device node of a stream
	missing        func(path string) bool             // whether a host path does not exist
	readFile       func(path string) ([]byte, error)
}

func thisMachine() *machine {
	return &machine{
		uid: os.Geteuid(), gid: os.Getegid(), lastCapability: lastCapability, boundingSet: boundingSet, processors: runtime.NumCPU(), pageBytes: os.Getpagesize(),
		limit: limits.Current, opened: opened, device: deviceOf, missing: noSuchFile, readFile: os.ReadFile,
	}
}

// lastCapability asks the kernel for its highest capability; an unknown one yields EINVAL.
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

// boundingSet asks the kernel for the bounding set: capabilities(7).
func boundingSet() (set uint64) {
	for capability := range 64 {
		if in, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, uintptr(capability), 0, 0, 0); err == nil && in == 1 {
			set |= 1 << capability
		}
	}
	return set
}

// opened returns the rights with which a stream was opened, if it is a file or a device. A
// script that opens /dev/stdout or /dev/stdin thereby gets no further rights.
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

// device is the device node that a stream has open. path is "" if the stream is not one of
// [plan.Devices].
type device struct {
	path  string
	flags int // of open(2)
}

// deviceOf examines a stream of this process.
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

// steps open the node in the command's root instead of using the host's descriptor, through
// which root could change the node itself with fchmod(2) and fchown(2).
func (d device) steps(to int, slots *steps.Slots, str func(string) steps.Arg) []steps.Step {
	if d.path == "" {
		return nil
	}
	open := step("descriptors", "openat", unix.SYS_OPENAT, d.path, steps.Int(unix.AT_FDCWD), str(d.path), steps.Int(d.flags))
	open.Save = slots.New()
	return []steps.Step{open, step("descriptors", "dup3", unix.SYS_DUP3, strconv.Itoa(to), steps.From(open.Save), steps.Int(to), steps.Int(0))}
}
