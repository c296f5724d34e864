package steps

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"ethos/pkg/timerslack"
)

// goInside reports that this program runs, receives the calls, and has init
// make them. It stays on one thread, because the kernel takes the thread that
// clones init for its parent: PR_SET_PDEATHSIG, prctl(2).
//
// It returns when init has ended, or some time after the owner of the run is
// gone. The message with the descriptors is read as a whole; with none in it,
// the other side has closed the channel.
func goInside(channel int) error {
	runtime.LockOSThread()
	hello := message{kind: kindInside}
	if _, err := unix.Write(channel, bytesOf([]message{hello})); err != nil {
		return fmt.Errorf("channel: write: %w", err)
	}
	p := &delivery
	n, errno := p.receive(int32(channel))
	if errno != 0 {
		return fmt.Errorf("channel: recvmsg: %w", errno)
	}
	if n == 0 {
		return errors.New("channel: the process that started this one is gone")
	}
	moved, errno := p.renumber(int32(channel), n)
	if errno != 0 {
		return fmt.Errorf("descriptors of the command: %w", errno)
	}
	head, errno := p.image()
	if errno != 0 {
		return fmt.Errorf("image of a run: mmap: %w", errno)
	}
	for _, list := range [][]Step{head.init, head.command, head.finalize, head.cleanup} {
		for i := range list {
			for n := range list[i].Args {
				if a := &list[i].Args[n]; a.ptr == head.fromSlot {
					a.ptr = unsafe.Pointer(&fromSlot)
				}
			}
		}
	}
	return becomeParent(head, int(moved))
}

// becomeParent clones init and waits for it. It leaves nothing that the command
// could use: its arguments, its memory and its descriptors. The command cannot
// stop this process, the first one of the namespace, as it may be able to stop
// init. The descriptors are closed after the clone, because init needs them.
// When this process ends, it is the first one of the namespace, and the kernel
// kills all others in it: pid_namespaces(7).
func becomeParent(head *insideHead, channel int) error {
	m := newMachine(&Program{}, channel, -1)
	m.load(head, int32(channel))
	args := &cloneArgs{exitSignal: uint64(unix.SIGCHLD)}
	timerslack.Restore()
	syscall.ForkLock.Lock()
	pid, errno := clone(m, args, new(int32))
	syscall.ForkLock.Unlock()
	if errno != 0 {
		return &CloneError{Call: callName(args), Errno: errno}
	}
	m.rename()
	// Who is not dumpable cannot be traced, and its /proc/PID belongs to
	// root: prctl(2).
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	closeRange(0, uintptr(channel-1))
	closeRange(uintptr(channel+1), 1<<32-1)
	over := make(chan struct{}, 2)
	go func() {
		reapUntil(int(pid))
		over <- struct{}{}
	}()
	go func() {
		outlive(channel)
		over <- struct{}{}
	}()
	<-over
	return nil
}

// reapUntil waits for the children of this process until one of them has ended.
// Orphans of the namespace become children of this process unless init is a
// subreaper, so it must wait for all: pid_namespaces(7).
func reapUntil(pid int) {
	for {
		var status unix.WaitStatus
		got, err := unix.Wait4(-1, &status, unix.WALL, nil)
		if got == pid && err == nil || err != nil && err != unix.EINTR {
			return
		}
	}
}

// cleanupLimit is how long init may take to clean up when its owner is gone.
const cleanupLimit = 10 * time.Second

// outlive returns when the process that started the run is gone and init, which
// has been told so too, had its time. Init has the other duplicate of this end,
// so the channel hangs up for both at the same time.
func outlive(channel int) {
	fds := []unix.PollFd{{Fd: int32(channel), Events: unix.POLLRDHUP}}
	for fds[0].Revents == 0 {
		if _, err := unix.Poll(fds, -1); err != nil && err != unix.EINTR {
			return
		}
	}
	time.Sleep(cleanupLimit)
}
