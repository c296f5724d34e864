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
// the work itself. A start of the program takes less.
const callPatience = 20 * time.Millisecond

// lost is the message of a call whose server ended before it did.
const lost = ": error: the process of a session that evaluated the call ended before it\n"

// lostStatus is the status then. An agent's hook blocks with it.
const lostStatus = 2

// Do has a server of a session do what a program would do with its arguments,
// its environment, its directory and its standard streams. called is false if
// nothing was passed: the program does it itself then. Else the standard input
// and output of this process are closed, and status is the program's exit
// status, whether the server has done it or has ended before.
//
// Calls with a terminal or without a stream are not passed. Do can be called
// before the Go runtime has started: see [Buffer.Send].
func (b *Buffer) Do(env []string, program string, args []string) (status int, called bool) {
	var streams rights
	for fd, kind := range Kinds([3]int{0, 1, 2}) {
		if kind == Terminal || kind == Null {
			return 0, false
		}
		streams.add(fd)
	}
	c := Call{Dir: b.directory(), Args: args, Env: env}
	if c.Dir == "" || c.size() > maxSent/2 {
		return 0, false
	}
	fd := b.connect(env, program, ofCalls)
	if fd < 0 {
		return 0, false
	}
	patience := syscall.NsecToTimespec(callPatience.Nanoseconds())
	if !b.trusts(fd) || b.message(fd, &patience) != Greeted || !streams.send(fd, c.AppendTo(b.text[:0])) {
		closeFD(fd)
		return 0, false
	}
	closeFD(0)
	closeFD(1) // whoever reads it does not wait for this process
	if answer := b.message(fd, nil); len(answer) == 1 {
		return int(answer[0]), true
	}
	for _, part := range [...]string{program, lost} {
		syscall.RawSyscall(syscall.SYS_WRITE, 2, uintptr(unsafe.Pointer(unsafe.StringData(part))), uintptr(len(part)))
	}
	return lostStatus, true
}

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
