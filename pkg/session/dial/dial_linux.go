package dial

import (
	"errors"
	"fmt"
	"strconv"
	"syscall"
	"unsafe"

	"ethos/pkg/lazy"
)

// SocketEnding is the extension of a session's socket.
const SocketEnding = ".sock"

// NewEnding is that of a socket that nobody listens on yet.
const NewEnding = ".new"

// InFolder returns a short path for a name in an open directory. sockaddr_un
// has room for only 107 bytes, and the directory's own path may be longer.
func InFolder(dir int, name string) string {
	return selfFD + strconv.Itoa(dir) + "/" + name
}

const selfFD = "/proc/self/fd/"

// Connect connects to the socket of a session in a folder. The socket does not
// block. The error is [ErrNone] if nobody listens there.
func Connect(folder, name string) (fd int, err error) {
	dir, err := syscall.Open(folder, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if errors.Is(err, syscall.ENOENT) {
		return -1, ErrNone
	}
	if err != nil {
		return -1, fmt.Errorf("%s: %w", folder, err)
	}
	defer syscall.Close(dir)
	fd, errno := connect(dir, name, ofSession)
	switch {
	case errno == 0:
		return fd, nil
	case absent(errno):
		return -1, ErrNone
	}
	return -1, fmt.Errorf("connect: %w", errno)
}

// absent reports whether nobody listens: a dead supervisor leaves its socket.
func absent(errno syscall.Errno) bool {
	return errno == syscall.ENOENT || errno == syscall.ECONNREFUSED
}

// purpose is what a socket is for.
type purpose int

const (
	ofSession purpose = iota // of a name
	ofCalls                  // of a program, for [Buffer.Do]
)

// connect connects to a socket in an open directory.
func connect(dir int, name string, of purpose) (fd int, errno syscall.Errno) {
	to := syscall.RawSockaddrUnix{Family: syscall.AF_UNIX}
	at := unsafe.Slice((*byte)(unsafe.Pointer(&to.Path)), len(to.Path))
	at = append(strconv.AppendInt(append(at[:0], selfFD...), int64(dir), 10), '/')
	kind := uintptr(syscall.SOCK_STREAM)
	if of == ofCalls {
		kind = syscall.SOCK_SEQPACKET
		at = append(at, callPrefix...)
	}
	if len(at)+len(name)+len(SocketEnding) >= len(to.Path) {
		return -1, syscall.ENAMETOOLONG
	}
	_ = append(append(at, name...), SocketEnding...) // a NUL follows
	s, _, errno := syscall.RawSyscall(sysSocket, syscall.AF_UNIX, kind|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if errno != 0 {
		return -1, errno
	}
	if _, _, errno = syscall.RawSyscall(sysConnect, s, uintptr(unsafe.Pointer(&to)), unsafe.Sizeof(to)); errno != 0 {
		closeFD(int(s))
		return -1, errno
	}
	return int(s), 0
}

// Peer returns the process at the other end of a socket, as of when it
// connected or began to listen: unix(7), SO_PEERCRED. The error says why it
// cannot be trusted. If strict is set, a peer whose user namespace cannot be
// determined is refused too. That of a supervisor cannot: it is not dumpable.
func Peer(fd int, strict bool) (pid int, err error) {
	own := ownNS.Get()
	if own.err != nil {
		return 0, own.err
	}
	var room [roomBytes]byte
	cred, why, errno := examine(fd, strict, own.name, &room)
	switch why {
	case unknownPeer:
		return 0, fmt.Errorf("SO_PEERCRED: %w", errno)
	case otherUser:
		return 0, fmt.Errorf("the process at the other end is of user %d", cred.Uid)
	case otherPIDNS:
		return 0, errors.New("the process at the other end is in another PID namespace")
	case unknownNS:
		return 0, fmt.Errorf("the namespaces of the process at the other end: %w", errno)
	case otherNS:
		return 0, errors.New("the process at the other end is in another user namespace")
	}
	return int(cred.Pid), nil
}

// ownNS returns the user namespace of this process, which never leaves it:
// namespaces(7).
var ownNS = lazy.Value[namespace]{Make: func() namespace {
	name, errno := userNS(0, new([roomBytes]byte))
	if errno != 0 {
		return namespace{err: fmt.Errorf("/proc/self/ns/user: %w", errno)}
	}
	return namespace{name: name}
}}

type namespace struct {
	name string
	err  error
}

// distrust is why a peer cannot be trusted; 0 if it can.
type distrust int

const (
	unknownPeer distrust = iota + 1
	otherUser
	otherPIDNS
	unknownNS
	otherNS
)

// examine examines the process at the other end of a socket. own is the user
// namespace of this process.
func examine(fd int, strict bool, own string, room *[roomBytes]byte) (cred syscall.Ucred, why distrust, errno syscall.Errno) {
	size := uint32(unsafe.Sizeof(cred))
	_, _, errno = syscall.RawSyscall6(sysGetsockopt, uintptr(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED, uintptr(unsafe.Pointer(&cred)), uintptr(unsafe.Pointer(&size)), 0)
	switch {
	case errno != 0:
		return cred, unknownPeer, errno
	case int(cred.Uid) != syscall.Geteuid():
		return cred, otherUser, 0
	case cred.Pid <= 0:
		return cred, otherPIDNS, 0
	}
	inner, errno := innerPIDNS(fd, int(cred.Pid), room)
	switch {
	case errno != 0:
		return cred, unknownNS, errno
	case inner:
		return cred, otherPIDNS, 0
	}
	theirs, errno := userNS(int(cred.Pid), room)
	switch {
	case errno != 0 && strict:
		return cred, unknownNS, errno
	case errno == 0 && theirs != own:
		return cred, otherNS, 0
	}
	return cred, 0, 0
}

// innerPIDNS reports whether the process at the other end of a socket is in a PID
// namespace below that of this process: proc_pid_fdinfo(5), NSpid of a descriptor
// of it. Whoever it is, this can be read. errno is ESRCH if the process has ended;
// kernels before 6.5 do not know SO_PEERPIDFD, and look for the number.
func innerPIDNS(fd, pid int, room *[roomBytes]byte) (inner bool, errno syscall.Errno) {
	process, size := int32(-1), uint32(4)
	_, _, errno = syscall.RawSyscall6(sysGetsockopt, uintptr(fd), syscall.SOL_SOCKET, peerPIDFD, uintptr(unsafe.Pointer(&process)), uintptr(unsafe.Pointer(&size)), 0)
	if errno == syscall.ENOPROTOOPT {
		var opened uintptr
		opened, _, errno = syscall.RawSyscall(sysPIDFDOpen, uintptr(pid), 0, 0)
		process = int32(opened)
	}
	if errno != 0 {
		return false, errno
	}
	path := append(strconv.AppendInt(append(room[:0], "/proc/self/fdinfo/"...), int64(process), 10), 0)
	info, _, errno := syscall.RawSyscall6(syscall.SYS_OPENAT, 0, uintptr(unsafe.Pointer(unsafe.SliceData(path))), syscall.O_RDONLY|syscall.O_CLOEXEC, 0, 0, 0)
	if errno != 0 {
		closeFD(int(process))
		return false, errno
	}
	n, _, errno := syscall.RawSyscall(syscall.SYS_READ, info, uintptr(unsafe.Pointer(room)), roomBytes)
	closeFD(int(info))
	closeFD(int(process))
	if errno != 0 {
		return false, errno
	}
	numbers := after(room[:n], "\nNSpid:\t")
	if len(numbers) == 0 || numbers[0] < '1' || numbers[0] > '9' {
		return false, syscall.ESRCH
	}
	for _, c := range numbers {
		switch {
		case c == '\n':
			return false, 0
		case c < '0' || c > '9':
			return true, 0
		}
	}
	return false, syscall.EMSGSIZE // the line does not end
}

const (
	peerPIDFD    = 77  // SO_PEERPIDFD: include/uapi/asm-generic/socket.h
	sysPIDFDOpen = 434 // on every architecture
)

// after returns what follows the first occurrence of key in a text, nil if it does
// not occur.
func after(text []byte, key string) []byte {
	for i := 0; i+len(key) <= len(text); i++ {
		if string(text[i:i+len(key)]) == key {
			return text[i+len(key):]
		}
	}
	return nil
}

// roomBytes is more than the path of a namespace or its name, such as
// user:[4026531837], and than the information on a process's descriptor.
const roomBytes = 256

// userNS reads the user namespace of a process, 0 for this one, into room.
func userNS(pid int, room *[roomBytes]byte) (name string, errno syscall.Errno) {
	path := append(room[:0], "/proc/"...)
	if pid == 0 {
		path = append(path, "self"...)
	} else {
		path = strconv.AppendInt(path, int64(pid), 10)
	}
	path = append(path, "/ns/user\x00"...)
	n, _, errno := syscall.RawSyscall6(syscall.SYS_READLINKAT, 0, uintptr(unsafe.Pointer(unsafe.SliceData(path))), uintptr(unsafe.Pointer(room)), roomBytes, 0, 0)
	if errno != 0 {
		return "", errno
	}
	return unsafe.String(&room[0], n), 0
}
