package sandbox

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/steps"
)

// What a descriptor is that the child hands over.
const (
	handedSegments = iota + 1 // /proc/sysvipc/shm of its IPC namespace
	handedListener            // what the filter of connect(2) is answered by
)

// segmentSteps bound System V shared memory where no cgroup counts it, and hand its list over for the watch. They must run in the IPC namespace, while the host's /proc is there.
//
// kernel.shmall is the namespace's own, in pages. The kernel lets the namespace's uid 0 write it (ipc_permissions in ipc/ipc_sysctl.c), which an ordinary user does not have
// inside: for one, the watch alone sees segments.
func (r *resources) segmentSteps(slots *steps.Slots) []steps.Step {
	if !r.watches() {
		return nil
	}
	const stage, shmall, segmentList = "shared_memory", "/proc/sys/kernel/shmall", "/proc/sysvipc/shm"
	without := []syscall.Errno{syscall.EACCES, syscall.EPERM, syscall.ENOENT, syscall.EROFS} // a /proc that is covered in parts, or a caller who is not root
	limit, segments := slots.New(), slots.New()
	open := func(path string, flags int, to steps.Slot, more int32) steps.Step {
		s := step(stage, "openat", unix.SYS_OPENAT, path, steps.Int(unix.AT_FDCWD), steps.Str(path), steps.Int(flags|unix.O_CLOEXEC))
		s.Save, s.Ignore, s.Skip = to, without, more
		return s
	}
	var list []steps.Step
	pages := strconv.FormatInt(max(1, r.plan.Limits.MemoryBytes/int64(r.machine.pageBytes)), 10)
	if r.machine.uid == 0 {
		list = append(list, open(shmall, unix.O_WRONLY, limit, 2),
			step(stage, "write", unix.SYS_WRITE, shmall, steps.From(limit), steps.Str(pages), steps.Int(len(pages))),
			step(stage, "close", unix.SYS_CLOSE, shmall, steps.From(limit)))
	}
	return append(list, open(segmentList, unix.O_RDONLY, segments, 2),
		steps.Hand(handedSegments, segments),
		step(stage, "close", unix.SYS_CLOSE, segmentList, steps.From(segments)))
}

// handed takes what the child gave.
func (r *run) handed(event steps.Event) {
	switch event.What {
	case handedSegments:
		r.layers.shared.Segments = os.NewFile(uintptr(event.FD), "/proc/sysvipc/shm")
	case handedListener:
		r.layers.sockets.listener = event.FD
	default:
		unix.Close(event.FD)
	}
}

// openScratch opens the root that the command sees: the private tmpfs, all of which is one file system.
func (r *run) openScratch(pid int) {
	if !r.layers.watches() {
		return
	}
	if f, err := os.OpenFile("/proc/"+strconv.Itoa(pid)+"/root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err == nil {
		r.layers.shared.Scratch = f
	}
}
