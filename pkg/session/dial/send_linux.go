package dial

import (
	"syscall"
	"unsafe"

	"ethos/pkg/statedir"
)

// Buffer is the memory in which [Buffer.Send] makes a request.
type Buffer struct {
	sent   Sent
	text   [maxSent]byte
	dir    [syscall.PathMax]byte
	folder statedir.PathBuffer
	own    [roomBytes]byte
	theirs [roomBytes]byte
}

// maxSent is the maximum length of a request that [Buffer.Send] sends. It fits
// into an empty socket (net.core.wmem_default), so that nobody has to wait.
const maxSent = 64 << 10

// Send requests a command with the standard streams and directory of this
// process, and the environment that is given. A command with a terminal is not
// requested, because somebody has to relay it; nor one without a stream, whose
// number another file would get. No other thread may create files meanwhile. It
// returns nil if nothing was requested.
//
// It can be called before the Go runtime has started. Like everything that it
// calls it allocates nothing, needs no package variable, and makes system calls
// that the scheduler does not see. The result holds the buffer and the strings.
func (b *Buffer) Send(env []string, name string, argv []string) *Sent {
	c := Command{Argv: argv, Env: env, Streams: Kinds([3]int{0, 1, 2})}
	var passed rights
	for i, kind := range c.Streams {
		switch kind {
		case Terminal, Null:
			return nil
		case Passed:
			passed.add(i)
		}
	}
	c.Dir, c.Umask = b.directory(), umask()
	if c.Dir == "" || c.Size()+len(c.Argv)+len(c.Env) > maxSent/2 {
		return nil
	}
	fd := b.connect(env, name, ofSession)
	if fd < 0 {
		return nil
	}
	text := c.AppendRequest(b.text[:0])
	if !b.trusts(fd, false) || !passed.send(fd, text) {
		closeFD(fd)
		return nil
	}
	b.sent.FD, b.sent.Name, b.sent.Streams = fd, name, c.Streams
	return &b.sent
}

// directory returns the directory of this process, "" if it cannot be named.
func (b *Buffer) directory() string {
	n, _, errno := syscall.RawSyscall(syscall.SYS_GETCWD, uintptr(unsafe.Pointer(&b.dir)), uintptr(len(b.dir)), 0)
	if errno != 0 || n < 2 || b.dir[0] != '/' { // n counts the NUL; "(unreachable)" begins what is not below the root
		return ""
	}
	return unsafe.String(&b.dir[0], n-1)
}

// connect connects to a socket in the folder of the sessions. The result is -1 if
// that is impossible.
func (b *Buffer) connect(env []string, name string, of purpose) (fd int) {
	getenv := func(name string) string { return lookup(env, name) }
	for i := range 2 {
		folder := b.folder.Sockets(getenv, i)
		if folder == statedir.None {
			continue
		}
		if folder < 0 {
			return -1
		}
		fd, errno := connect(folder, name, of)
		closeFD(folder)
		if errno == 0 || !absent(errno) {
			return fd
		}
	}
	return -1
}

// lookup returns the first value of a variable, as os.Getenv does.
func lookup(env []string, name string) string {
	for _, word := range env {
		if len(word) > len(name) && word[len(name)] == '=' && word[:len(name)] == name {
			return word[len(name)+1:]
		}
	}
	return ""
}

// trusts is [Peer].
func (b *Buffer) trusts(fd int, strict bool) bool {
	own, errno := userNS(0, &b.own)
	if errno != 0 {
		return false
	}
	_, why, _ := examine(fd, strict, own, &b.theirs)
	return why == 0
}

// rights are the descriptors that come with a message: unix(7), SCM_RIGHTS.
type rights struct {
	header syscall.Cmsghdr
	fds    [CallFDs]int32
	n      int32
}

func (r *rights) add(fd int) {
	r.fds[r.n] = int32(fd)
	r.n++
}

// send sends a text with the descriptors, as a whole.
func (r *rights) send(fd int, text []byte) bool {
	var message syscall.Msghdr
	part := syscall.Iovec{Base: &text[0]}
	part.SetLen(len(text))
	message.Iov, message.Iovlen = &part, 1
	if r.n > 0 {
		r.header.Level, r.header.Type = syscall.SOL_SOCKET, syscall.SCM_RIGHTS
		r.header.SetLen(int(unsafe.Offsetof(r.fds)) + 4*int(r.n))
		message.Control = (*byte)(unsafe.Pointer(r))
		const word = int(unsafe.Sizeof(uintptr(0))) // CMSG_ALIGN of cmsg(3)
		message.SetControllen(int(unsafe.Offsetof(r.fds)) + (4*int(r.n)+word-1)&^(word-1))
	}
	n, _, errno := syscall.RawSyscall(sysSendmsg, uintptr(fd), uintptr(unsafe.Pointer(&message)), syscall.MSG_NOSIGNAL)
	return errno == 0 && int(n) == len(text)
}

// receive receives into text, and the descriptors that come with it. ok is false
// for an error, at the end of the connection, and if descriptors were lost.
func (r *rights) receive(fd int, text []byte) (n int, ok bool) {
	var message syscall.Msghdr
	part := syscall.Iovec{Base: &text[0]}
	part.SetLen(len(text))
	message.Iov, message.Iovlen = &part, 1
	message.Control = (*byte)(unsafe.Pointer(r))
	message.SetControllen(int(unsafe.Offsetof(r.n)))
	received, _, errno := syscall.RawSyscall(sysRecvmsg, uintptr(fd), uintptr(unsafe.Pointer(&message)), syscall.MSG_CMSG_CLOEXEC)
	if errno != 0 {
		return 0, false
	}
	r.n = 0
	if message.Controllen > 0 && r.header.Level == syscall.SOL_SOCKET && r.header.Type == syscall.SCM_RIGHTS {
		r.n = (int32(r.header.Len) - int32(unsafe.Offsetof(r.fds))) / 4
	}
	return int(received), received > 0 && message.Flags&syscall.MSG_CTRUNC == 0
}

func closeFD(fd int) { syscall.RawSyscall(syscall.SYS_CLOSE, uintptr(fd), 0, 0) }
