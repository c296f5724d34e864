package steps

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ErrBusy is the error of [Process.Spawn] when the spawner does not take
// requests: it was stopped, or has too many.
var ErrBusy = errors.New("the spawner takes no commands")

// Spawn asks the spawner of p ([Program.Spawns]) for a command with the calls of
// an image, which begin with [Image.Begun]. What happens to it is told by the
// Next of the process that is returned; [Exited] means that the command itself
// has ended, and [Gone] that the spawner has. Close frees it. Safe for
// concurrent use until the Wait of p.
func (p *Process) Spawn(i *Image, streams [3]int) (*Process, error) {
	image, err := i.finish()
	if err != nil {
		return nil, err
	}
	fd, err := unix.MemfdCreate("image", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("image of a command: memfd_create: %w", err)
	}
	defer unix.Close(fd)
	if n, err := unix.Write(fd, image); err != nil || n != len(image) {
		return nil, fmt.Errorf("image of a command: %d of %d bytes written: %w", n, len(image), err)
	}
	pair, err := channelPair()
	if err != nil {
		return nil, err
	}
	defer unix.Close(pair[1])
	size := int64(len(image))
	rights := unix.UnixRights(fd, pair[1], streams[0], streams[1], streams[2])
	err = unix.Sendmsg(p.channel, bytesOf([]int64{size}), rights, nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
	if err != nil {
		unix.Close(pair[0])
		if errors.Is(err, unix.EAGAIN) {
			err = ErrBusy
		}
		return nil, fmt.Errorf("channel to the spawner: sendmsg: %w", err)
	}
	return &Process{pidfd: -1, channel: pair[0], program: &Program{Command: i.named}}, nil
}

// Close frees a process that [Process.Spawn] returned.
func (p *Process) Close() {
	unix.Close(p.channel)
	if p.pidfd >= 0 {
		unix.Close(p.pidfd)
	}
}

// Held makes Signal reach a process that [Process.Spawn] returned: pid is what
// [Begins] told, of a command that waits for Go.
func (p *Process) Held(pid int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return fmt.Errorf("pidfd_open: %w", err)
	}
	p.PID, p.pidfd = pid, fd
	return nil
}

// newRegion is memory at an address that child and parent agree upon. The parent
// never touches it.
func newRegion() (unsafe.Pointer, error) {
	at, err := unix.MmapPtr(-1, 0, nil, regionSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("region of a spawner: mmap: %w", err)
	}
	return at, nil
}

// Mask returns the step that gives the command a signal mask: a spawner blocks
// all.
func (i *Image) Mask(set uint64) Step {
	return Step{Stage: "signals", Call: "rt_sigprocmask", Nr: unix.SYS_RT_SIGPROCMASK,
		Args: [6]Arg{Int(unix.SIG_SETMASK), Value(i, set), Int(0), Int(sigsetSize)}}
}

func (m *machine) freeRegion() {
	if m.spawner != nil {
		_ = unix.MunmapPtr(m.spawner.region, regionSize)
	}
}
