package session

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// messageLimit is the maximum time for one message, from its first byte to its
// last. A client that hangs, or sends half a message, blocks nothing but its
// own connection.
const messageLimit = 10 * time.Second

// conn is one end of a connection. send may be called concurrently.
type conn struct {
	*net.UnixConn
	sending sync.Mutex
}

// send sends a message and descriptors, which the caller keeps: unix(7),
// SCM_RIGHTS. The descriptors travel with the first byte.
func (c *conn) send(message any, descriptors ...int) error {
	text, err := encode(message)
	if err != nil {
		return err
	}
	return c.write(text, descriptors...)
}

// greet sends the greeting and the message after it. They travel together, so
// that the client waits once.
func (c *conn) greet(h Hello) error {
	first, err := encode(ownGreeting)
	if err != nil {
		return err
	}
	second, err := encode(h)
	if err != nil {
		return err
	}
	return c.write(append(first, second...))
}

// write writes encoded messages.
func (c *conn) write(text []byte, descriptors ...int) (err error) {
	c.sending.Lock()
	defer c.sending.Unlock()
	if err := c.SetWriteDeadline(time.Now().Add(messageLimit)); err != nil {
		return err
	}
	n := 0
	if len(descriptors) > 0 {
		if n, _, err = c.WriteMsgUnix(text[:headerBytes], unix.UnixRights(descriptors...), nil); err != nil {
			return err
		}
	}
	_, err = c.Write(text[n:])
	return err
}

// maxDescriptors is the maximum number of descriptors in a message. The kernel
// closes any beyond it.
const maxDescriptors = 3

// receive waits for a message without a time limit. The caller closes the
// message's descriptors.
func (c *conn) receive(message any) (_ []*os.File, err error) {
	var header [headerBytes]byte
	var files []*os.File
	defer func() {
		if err != nil {
			closeAll(files)
			files = nil
		}
	}()
	rights := make([]byte, unix.CmsgSpace(maxDescriptors*4))
	for at := 0; at < headerBytes; {
		n, m, flags, _, err := c.ReadMsgUnix(header[at:], rights)
		if err != nil {
			return files, err
		}
		if n == 0 {
			return files, io.EOF
		}
		more, err := filesOf(rights[:m])
		files = append(files, more...)
		if err != nil || flags&unix.MSG_CTRUNC != 0 || len(files) > maxDescriptors {
			return files, errors.Join(err, errors.New("a message with too many descriptors"))
		}
		at += n
	}
	if err := c.SetReadDeadline(time.Now().Add(messageLimit)); err != nil {
		return files, err
	}
	defer c.SetReadDeadline(time.Time{})
	return files, decode(header, c, message)
}

// filesOf extracts the descriptors from ancillary data.
func filesOf(rights []byte) (files []*os.File, err error) {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, err
	}
	for i := range messages {
		list, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return files, err
		}
		for _, fd := range list {
			files = append(files, os.NewFile(uintptr(fd), "passed"))
		}
	}
	return files, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// numbers returns the descriptor numbers of files. [os.File.Fd] would make them
// blocking.
func numbers(files []*os.File) ([]int, error) {
	list := make([]int, 0, len(files))
	for _, f := range files {
		raw, err := f.SyscallConn()
		if err == nil {
			err = raw.Control(func(fd uintptr) { list = append(list, int(fd)) })
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// peer returns the process at the other end, as of when it connected or began
// to listen: unix(7), SO_PEERCRED. The error says why it cannot be trusted. If
// strict is set, a peer whose user namespace cannot be determined is refused
// too.
func (c *conn) peer(strict bool) (pid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var fault error
	if err := raw.Control(func(fd uintptr) { cred, fault = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil || fault != nil {
		return 0, errors.Join(err, fault)
	}
	if int(cred.Uid) != os.Geteuid() {
		return 0, fmt.Errorf("the process at the other end is of user %d", cred.Uid)
	}
	if cred.Pid <= 0 {
		return 0, errors.New("the process at the other end is in another PID namespace")
	}
	own, err := os.Readlink("/proc/self/ns/user")
	if err != nil {
		return 0, err
	}
	theirs, err := os.Readlink("/proc/" + strconv.Itoa(int(cred.Pid)) + "/ns/user")
	if err != nil && strict {
		return 0, fmt.Errorf("the user namespace of the process at the other end: %w", err)
	}
	if err == nil && theirs != own {
		return 0, errors.New("the process at the other end is in another user namespace")
	}
	return int(cred.Pid), nil
}
