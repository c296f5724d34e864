package steps

import (
	"errors"
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// spareLimit is how long a spare may take to begin.
const spareLimit = time.Second

// Prepare has the spawner of p clone a process that waits to become the next
// command without a cgroup of its own, and has verify examine it: pid is its
// number in the caller's PID namespace. [Process.Spawn] then saves the time that
// both take. There is at most one such process, the spare. It has the
// confinement and the open files of the spawner, and does nothing before its
// request comes. It ends with its channel.
func (p *Process) Prepare(verify func(pid int) error) error {
	p.spares.Lock()
	defer p.spares.Unlock()
	if p.check(); p.spare != nil {
		return nil
	}
	pair, err := channelPair()
	if err != nil {
		return err
	}
	defer unix.Close(pair[1])
	own := pair[1]
	if err := ask(p.channel, request{}, nil, unix.UnixRights(own, own, own, own, own, own)); err != nil {
		unix.Close(pair[0])
		return err
	}
	spare, err := newSpawned(pair[0])
	if err != nil {
		return err
	}
	if err = spare.begun(); err == nil {
		err = verify(spare.PID)
	}
	if err != nil {
		spare.Close()
		return err
	}
	p.spare = spare
	return nil
}

// begun waits until a spare has begun.
func (p *Process) begun() error {
	kind, err := p.wait(time.Now().Add(spareLimit))
	if err != nil {
		return err
	}
	if kind != 0 {
		return ErrBusy
	}
	var m message
	oob := make([]byte, unix.CmsgSpace(unix.SizeofUcred))
	n, oobn, _, _, err := unix.Recvmsg(p.channel, bytesOfMessage(&m), oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return fmt.Errorf("channel to the child: recvmsg: %w", err)
	}
	if n != messageSize || m.kind != kindPrepared {
		return fmt.Errorf("channel to the child: message of %d bytes, kind %d", n, m.kind)
	}
	pid, err := senderPID(oob[:oobn])
	if err != nil {
		return err
	}
	return p.Held(pid)
}

// Discard ends the spare.
func (p *Process) Discard() {
	p.spares.Lock()
	defer p.spares.Unlock()
	p.discard()
}

func (p *Process) discard() {
	if p.spare != nil {
		p.spare.Close()
		p.spare = nil
	}
}

// Spare returns the PID of the spare in the caller's PID namespace, or 0 if
// there is none.
func (p *Process) Spare() int {
	p.spares.Lock()
	defer p.spares.Unlock()
	p.check()
	if p.spare == nil {
		return 0
	}
	return p.spare.PID
}

// TakeSpare returns the spare, for [Process.Spawn], or nil if there is none that
// can be used: a command may have killed or stopped it.
func (p *Process) TakeSpare() *Process {
	p.spares.Lock()
	defer p.spares.Unlock()
	p.check()
	taken := p.spare
	p.spare = nil
	return taken
}

// check discards the spare if it cannot be used.
func (p *Process) check() {
	if p.spare != nil && !p.spare.waits() {
		p.discard()
	}
}

// waits reports whether nothing has been heard of a spare: neither a message,
// as of its being stopped, nor its end.
func (p *Process) waits() bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(p.channel), Events: unix.POLLIN}}, 0)
	return n == 0 && err == nil
}

func bytesOfMessage(m *message) []byte { return (*[messageSize]byte)(unsafe.Pointer(m))[:] }

// ask sends a request to a spawner or to a spare, for which an image may follow.
func ask(channel int, r request, image []byte, rights []byte) error {
	_, err := unix.SendmsgBuffers(channel, [][]byte{bytesOf([]request{r}), image}, rights, nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
	if errors.Is(err, unix.EAGAIN) {
		err = ErrBusy
	}
	if err != nil {
		return fmt.Errorf("channel to the spawner: sendmsg: %w", err)
	}
	return nil
}

// await waits in the process of a spare until it may become a command. A
// request that this package did not write, and the end of the channel, end it.
//
//go:nosplit
//go:norace
func (m *machine) await() {
	s := m.spawner
	m.send(kindPrepared, 0, 0, 0)
	s.expect()
	for {
		n, _, e := syscall.RawSyscall(unix.SYS_RECVMSG, uintptr(m.channel), uintptr(unsafe.Pointer(&s.header)), unix.MSG_CMSG_CLOEXEC)
		if e == syscall.EINTR { // it was stopped
			continue
		}
		if e != 0 || !s.valid() || s.request.size == 0 || n != requestSize+uintptr(s.request.size) {
			exit(failedStatus)
		}
		break
	}
	m.dropSignals()
}

// dropSignals discards what was sent to this process while it waited, because
// that was not for the command: rt_sigtimedwait(2) with no time to wait.
//
//go:nosplit
//go:norace
func (m *machine) dropSignals() {
	s := m.spawner
	for {
		if _, _, e := syscall.RawSyscall6(unix.SYS_RT_SIGTIMEDWAIT, uintptr(unsafe.Pointer(&m.allSigs)), 0, uintptr(unsafe.Pointer(&s.atOnce)), sigsetSize, 0, 0); e != 0 && e != syscall.EINTR {
			return
		}
	}
}
