package steps

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxPassed is how many descriptors one message can carry: SCM_MAX_FD of
// net/scm.h.
const maxPassed = 253

// passed is the message of [Process.pass]: the size of the image and the numbers
// of the descriptors, with a descriptor of the image and the others. Its methods
// are also called before the Go runtime starts: see [Prefork].
type passed struct {
	header  unix.Msghdr
	text    unix.Iovec
	numbers [maxPassed]int64
	control struct {
		unix.Cmsghdr
		fds [maxPassed + 1]int32
	}
}

// delivery is the message that this process receives. It points to itself, so it
// cannot lie on the stack.
var delivery passed

// receive returns how many descriptors it has received, 0 if the other side has
// closed the channel.
//
//go:norace
func (p *passed) receive(channel int32) (n int, e syscall.Errno) {
	p.text.Base = (*byte)(unsafe.Pointer(&p.numbers))
	p.text.SetLen(int(unsafe.Sizeof(p.numbers)))
	p.header.Iov, p.header.Iovlen = &p.text, 1
	p.header.Control = (*byte)(unsafe.Pointer(&p.control))
	p.header.SetControllen(int(unsafe.Sizeof(p.control)))
	size, _, e := syscall.RawSyscall(unix.SYS_RECVMSG, uintptr(channel), uintptr(unsafe.Pointer(&p.header)), unix.MSG_CMSG_CLOEXEC)
	if e != 0 || size == 0 {
		return 0, e
	}
	n = int(size / unsafe.Sizeof(p.numbers[0]))
	c := &p.control
	if n == 0 || n > maxPassed || c.Level != unix.SOL_SOCKET || c.Type != unix.SCM_RIGHTS || p.header.Flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 ||
		uintptr(c.Len) != unsafe.Sizeof(c.Cmsghdr)+uintptr(n)*unsafe.Sizeof(c.fds[0]) {
		return 0, unix.EBADMSG
	}
	return n, 0
}

// renumber gives the descriptors after the first their numbers, and returns the
// new one of the channel, the lowest that is free; on an error, the one that the
// channel has then. All are first moved above the highest number, so that none is
// overwritten before it is in its place. Above it, as many numbers must be free
// as there are descriptors, and one more.
//
//go:norace
func (p *passed) renumber(channel int32, n int) (moved int32, e syscall.Errno) {
	above := int64(3)
	for _, number := range p.numbers[1:n] {
		above = max(above, number+1)
	}
	if channel, e = moveAbove(channel, above); e != 0 {
		return channel, e
	}
	for i := range n {
		if p.control.fds[i], e = moveAbove(p.control.fds[i], above); e != 0 {
			return channel, e
		}
	}
	for i := 1; i < n; i++ {
		if _, _, e = syscall.RawSyscall(unix.SYS_DUP3, uintptr(p.control.fds[i]), uintptr(p.numbers[i]), 0); e != 0 {
			return channel, e
		}
		syscall.RawSyscall(unix.SYS_CLOSE, uintptr(p.control.fds[i]), 0, 0)
	}
	return moveAbove(channel, 3) // out of the way of numbers that calls name
}

// moveAbove returns the new number of a descriptor, the old one on an error.
//
//go:norace
func moveAbove(fd int32, above int64) (int32, syscall.Errno) {
	to, _, e := syscall.RawSyscall(unix.SYS_FCNTL, uintptr(fd), unix.F_DUPFD_CLOEXEC, uintptr(above))
	if e != 0 {
		return fd, e
	}
	syscall.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0)
	return int32(to), 0
}

// image maps the image at the address for which it was made, because it contains
// pointers. A kernel before 4.17 takes MAP_FIXED_NOREPLACE for a hint and may map
// it elsewhere, so the address is checked: mmap(2).
//
//go:norace
func (p *passed) image() (*insideHead, syscall.Errno) {
	at, _, e := syscall.RawSyscall6(unix.SYS_MMAP, insideBase, uintptr(p.numbers[0]), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED_NOREPLACE, uintptr(p.control.fds[0]), 0)
	syscall.RawSyscall(unix.SYS_CLOSE, uintptr(p.control.fds[0]), 0, 0)
	if e == 0 && at != insideBase {
		e = unix.EEXIST
	}
	return (*insideHead)(unsafe.Add(nil, insideBase)), e
}
