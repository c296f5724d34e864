package steps

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ErrBusy is the error of [Process.Spawn] if the spawner accepts no requests
// because it was stopped or has too many.
var ErrBusy = errors.New("the spawner takes no commands")

// ErrSpare is the error of [Process.Spawn] if a spare cannot become the command:
// it has ended, the image is too large for it, or the command needs a cgroup of
// its own.
var ErrSpare = errors.New("the spare cannot become the command")

// Spawn asks the spawner of p ([Program.Spawns]) to start a command with the
// calls of an image. Next of the returned
// process reports what happens to the command: [Exited] means that the command
// itself has ended, [Gone] that the spawner has. Close frees the returned
// process. Spawn is safe for concurrent use until Wait of p. The caller keeps
// its streams and the descriptor of the cgroup; the command has duplicates. The
// request is not waited for: a failure of the clone comes as [Failed].
//
// If spare is not nil, that process becomes the command, and is returned. Its PID
// is known at once, and Signal works; else both are so after [Process.Held], and
// the image must begin with [Image.Begun]. The error is [ErrSpare] if it cannot
// be used. It is closed after any error.
func (p *Process) Spawn(i *Image, streams [3]int, spare *Process) (_ *Process, err error) {
	defer func() {
		if err != nil && spare != nil {
			spare.Close()
		}
	}()
	image, err := i.finish()
	if err != nil {
		return nil, err
	}
	r := request{size: int64(len(image))}
	if none := streams[0]; spare != nil {
		if i.CgroupFD > 0 || len(image) > maxBehind || ask(spare.channel, r, image, unix.UnixRights(none, none, streams[0], streams[1], streams[2], none)) != nil {
			return nil, ErrSpare
		}
		spare.program = &Program{Command: i.named}
		return spare, nil
	}
	fd, err := unix.MemfdCreate("image", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("image of a command: memfd_create: %w", err)
	}
	defer unix.Close(fd)
	if n, err := unix.Write(fd, image); err != nil || n != len(image) {
		return nil, fmt.Errorf("image of a command: %d of %d bytes written: %w", n, len(image), err)
	}
	group := fd
	if i.CgroupFD > 0 {
		r.inCgroup, group = 1, i.CgroupFD
	}
	pair, err := channelPair()
	if err != nil {
		return nil, err
	}
	defer unix.Close(pair[1])
	if err := ask(p.channel, r, nil, unix.UnixRights(fd, pair[1], streams[0], streams[1], streams[2], group)); err != nil {
		unix.Close(pair[0])
		return nil, err
	}
	spawned, err := newSpawned(pair[0])
	if err == nil {
		spawned.program = &Program{Command: i.named}
	}
	return spawned, err
}

// Close frees a process that [Process.Spawn] returned.
func (p *Process) Close() {
	if p.file != nil {
		p.file.Close()
	} else {
		unix.Close(p.channel)
	}
	if p.pidfd >= 0 {
		unix.Close(p.pidfd)
	}
}

// Held makes Signal work for a process that [Process.Spawn] returned. pid is
// that of the [Begins] event; the command must still wait for Go. A process
// that waits cannot end and give its number away, except by a signal from
// outside.
func (p *Process) Held(pid int) error {
	if p.pidfd >= 0 { // it was the spare
		return nil
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return fmt.Errorf("pidfd_open: %w", err)
	}
	p.PID, p.pidfd = pid, fd
	return nil
}

// newRegion maps memory at an address that child and parent know. The parent
// never touches it.
func newRegion() (unsafe.Pointer, error) {
	at, err := unix.MmapPtr(-1, 0, nil, regionSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("region of a spawner: mmap: %w", err)
	}
	return at, nil
}

// Mask returns the step that sets the command's signal mask, because a spawner
// blocks everything.
func (i *Image) Mask(set uint64) Step {
	return Step{Stage: "signals", Call: "rt_sigprocmask", Nr: unix.SYS_RT_SIGPROCMASK,
		Args: [6]Arg{Int(unix.SIG_SETMASK), Value(i, set), Int(0), Int(sigsetSize)}}
}

func (m *machine) freeRegion() {
	if m.spawner != nil {
		_ = unix.MunmapPtr(m.spawner.region, regionSize)
	}
}
