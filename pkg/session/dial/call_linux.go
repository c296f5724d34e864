package dial

import (
	"encoding/binary"
	"syscall"
	"time"
	"unsafe"
)

// Greeted is the first message of a server of calls, which has then examined the
// caller. Nothing is passed before it.
const Greeted = "\x01"

// callPatience is how long a call waits for [Greeted] before the program does
// the work itself: long on a busy machine, and short for whoever waits for a hook.
const callPatience = 100 * time.Millisecond

// The descriptors of a call are the standard streams and the working directory.
const (
	DirFD   = 3
	CallFDs = 4
)

// BrokenPipe is the status of a call whose output nobody reads. The program is
// then ended by SIGPIPE, as it would be.
const BrokenPipe = 128 + byte(syscall.SIGPIPE)

// refusedStatus is the status of a call of which it is not known how it ended. An
// agent's hook blocks with it.
const refusedStatus = 2

// What a program says then.
const (
	lost     = ": error: the process of a session that evaluated the call ended before it\n"
	signaled = ": error: a signal ended the call\n"
)

// Do has a server of a session do what a program would do with its arguments,
// its environment, its directory and its standard streams. called is false if
// nothing was passed: the program does it itself then. Else the standard input
// and output of this process are closed, and status is the program's exit
// status. If the server has ended before it was known, or answers is set and a
// signal would end the program, it is one with which an agent's hook blocks.
//
// Only pipes, sockets and regular files are passed, and the null device as
// standard error, and nothing to a server whose user namespace cannot be
// determined. Do can be called before the Go runtime has
// started: see [Buffer.Send].
func (b *Buffer) Do(env []string, program string, args []string, answers bool) (status int, called bool) {
	var passed rights
	for fd := range 3 {
		if !passable(fd) {
			return 0, false
		}
		passed.add(fd)
	}
	c := Call{Dir: b.directory(), Args: args, Env: env}
	if c.Dir == "" || c.size() > maxSent/2 {
		return 0, false
	}
	fd := b.connect(env, program, ofCalls)
	if fd < 0 {
		return 0, false
	}
	dir := openHere()
	if dir < 0 {
		closeFD(fd)
		return 0, false
	}
	passed.add(dir)
	patience := syscall.NsecToTimespec(callPatience.Nanoseconds())
	var signals signalFD
	if !b.trusts(fd, true) || b.message(fd, &patience) != Greeted || !signals.open() || !passed.send(fd, c.AppendTo(b.text[:0])) {
		signals.close()
		closeFD(dir)
		closeFD(fd)
		return 0, false
	}
	closeFD(0)
	closeFD(1) // whoever reads it does not wait for this process
	list := [2]pollFD{{fd: int32(fd), events: pollIn}, {fd: signals.fd, events: pollIn}}
	poll(list[:], nil)
	if list[0].revents == 0 {
		if !answers {
			signals.raise()
		}
		complain(program, signaled)
		return refusedStatus, true
	}
	switch answer := b.message(fd, nil); {
	case len(answer) != 1:
		complain(program, lost)
		return refusedStatus, true
	case answer[0] == BrokenPipe:
		kill(syscall.SIGPIPE) // it may be ignored
		return refusedStatus, true
	default:
		return int(answer[0]), true
	}
}

func complain(program, message string) {
	for _, part := range [...]string{program, message} {
		syscall.RawSyscall(syscall.SYS_WRITE, 2, uintptr(unsafe.Pointer(unsafe.StringData(part))), uintptr(len(part)))
	}
}

// passable reports whether a stream is passed. The program itself looks at
// devices, such as terminals, but only writes to standard error.
func passable(fd int) bool {
	var st syscall.Stat_t
	_, _, errno := syscall.RawSyscall(sysFstat, uintptr(fd), uintptr(unsafe.Pointer(&st)), 0)
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFIFO, syscall.S_IFSOCK, syscall.S_IFREG:
		return errno == 0
	case syscall.S_IFCHR:
		return errno == 0 && fd == 2 && !isTerminal(fd)
	}
	return false
}

// openHere opens the working directory if it can be searched, else it returns -1.
func openHere() int {
	const path = 0x200000 // O_PATH
	here := [2]byte{'.'}
	const executable = 1 // X_OK
	at := uintptr(unsafe.Pointer(&here))
	if _, _, errno := syscall.RawSyscall(syscall.SYS_FACCESSAT, atCwd, at, executable); errno != 0 {
		return -1
	}
	fd, _, errno := syscall.RawSyscall6(syscall.SYS_OPENAT, atCwd, at, path|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0, 0, 0)
	if errno != 0 {
		return -1
	}
	return int(fd)
}

// atCwd is AT_FDCWD.
const atCwd = ^uintptr(99)

// message waits for a message and returns it, "" at the end of the connection
// and when the time is over.
func (b *Buffer) message(fd int, patience *syscall.Timespec) string {
	list := [1]pollFD{{fd: int32(fd), events: pollIn}}
	var none rights
	if !poll(list[:], patience) {
		return ""
	}
	n, ok := none.receive(fd, b.own[:]) // [Buffer.trusts] needs it no more
	if !ok || none.n > 0 {
		return ""
	}
	return unsafe.String(&b.own[0], n)
}

// Call is what the server of a call is told.
type Call struct {
	Dir  string
	Args []string
	Env  []string
}

func (c *Call) size() int {
	return len(c.Dir) + (&Command{Argv: c.Args, Env: c.Env}).Size()
}

// AppendTo appends the encoding: the number of arguments, then the directory,
// the arguments and the environment, each ended by a NUL, which none of them can
// contain.
func (c *Call) AppendTo(to []byte) []byte {
	to = binary.AppendUvarint(to, uint64(len(c.Args)))
	to = append(append(to, c.Dir...), 0)
	for _, list := range [...][]string{c.Args, c.Env} {
		for _, word := range list {
			to = append(append(to, word...), 0)
		}
	}
	return to
}
