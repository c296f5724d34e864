package dial

import (
	"encoding/binary"
	"syscall"
	"time"
	"unsafe"
)

// pollIn is POLLIN of poll(2).
const pollIn = 0x1

// pollFD is struct pollfd of poll(2).
type pollFD struct {
	fd              int32
	events, revents int16
}

// Succeeds follows the command for at most limit. It reports whether the
// command has ended with status 0, has left no output to relay, and nothing
// else is to be said. It returns false as soon as that cannot be. Whoever takes
// over s then finds in it what was received, and goes on.
//
// A signal has its default action meanwhile. Nobody has seen anything of the
// command then, so that is as if the signal had come before it. Like [Buffer.Send]
// it can be called before the Go runtime has started.
func (s *Sent) Succeeds(limit time.Duration) bool {
	list := [3]pollFD{{fd: int32(s.FD), events: pollIn}} // the connection, and the pipes
	left := syscall.NsecToTimespec(limit.Nanoseconds())
	for !s.succeeded() {
		if !poll(list[:1+len(s.Pipes)], &left) || list[0].revents != 0 && !s.receive() {
			return false
		}
		for i, fd := range s.Pipes {
			switch pipe := &list[1+i]; {
			case pipe.events == 0: // it has just come
				*pipe = pollFD{fd: int32(fd), events: pollIn}
			case pipe.revents&pollIn != 0:
				return false
			case pipe.revents != 0: // nobody writes to it any more; poll ignores -1
				pipe.fd = -1
			}
		}
	}
	for _, fd := range s.Pipes {
		if unread(fd) > 0 {
			return false
		}
	}
	return true
}

// poll waits for at most the time that is left, from which the kernel subtracts
// what has passed: ppoll(2). It returns false when the time is over.
func poll(list []pollFD, left *syscall.Timespec) bool {
	for {
		n, _, errno := syscall.RawSyscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(unsafe.SliceData(list))), uintptr(len(list)), uintptr(unsafe.Pointer(left)), 0, 0, 0)
		if errno != syscall.EINTR { // the runtime's own signals, if it runs
			return errno == 0 && n > 0
		}
	}
}

// succeeded reports whether the last message of those received whole is
// [Success], and they are those of a usual course: greeting, Hello, Started.
func (s *Sent) succeeded() bool {
	const usual = 3
	text := s.Read
	for range usual {
		if len(text) < HeaderBytes {
			return false
		}
		n := HeaderBytes + int64(binary.BigEndian.Uint32(text))
		if n > int64(len(text)) {
			return false
		}
		text = text[n:]
	}
	return string(text) == Success
}

// receive receives what the supervisor has sent. It returns false at the end of
// the connection, for descriptors that the command does not have, and when there
// is no room for more.
func (s *Sent) receive() bool {
	if len(s.Read) == len(s.text) {
		return false
	}
	var came rights
	n, ok := came.receive(s.FD, s.text[len(s.Read):])
	s.Read = s.text[:len(s.Read)+n]
	for _, fd := range came.fds[:came.n] {
		if len(s.Pipes) == len(s.pipes) {
			closeFD(int(fd))
			return false
		}
		s.pipes[len(s.Pipes)] = int(fd)
		s.Pipes = s.pipes[:len(s.Pipes)+1]
	}
	return ok && len(s.Pipes) < len(s.Streams)
}

// unread returns the number of bytes in a pipe: FIONREAD.
func unread(pipe int) int {
	var n int32
	syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(pipe), syscall.TIOCINQ, uintptr(unsafe.Pointer(&n)))
	return int(n)
}
