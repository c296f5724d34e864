package session

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/session/dial"
)

// messageLimit is the maximum time for one message, from its first byte to its
// last. A client that hangs, or sends half a message, blocks nothing but its
// own connection.
const messageLimit = 10 * time.Second

// conn is one end of a connection. send may be called concurrently.
type conn struct {
	*net.UnixConn
	sending sync.Mutex
	held    []byte // sent with the next message; guarded by sending
	ahead   []byte // received before this process knew of the connection; no descriptor came with it
}

// Read reads what was received ahead first.
func (c *conn) Read(p []byte) (int, error) {
	if len(c.ahead) > 0 {
		n := copy(p, c.ahead)
		c.ahead = c.ahead[n:]
		return n, nil
	}
	return c.UnixConn.Read(p)
}

// readMessage reads bytes and the ancillary data that comes with them.
func (c *conn) readMessage(p, rights []byte) (n, m, flags int, err error) {
	if len(c.ahead) > 0 {
		n, err = c.Read(p)
		return n, 0, 0, err
	}
	n, m, flags, _, err = c.ReadMsgUnix(p, rights)
	return n, m, flags, err
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

// greet sends the greeting and the message after it, and descriptors. They
// travel together, so that the other end waits once.
func (c *conn) greet(message any, descriptors ...int) error {
	text, err := greeted(message)
	if err != nil {
		return err
	}
	return c.write(text, descriptors...)
}

func greeted(message any) ([]byte, error) {
	first, err := encode(greeting(dial.Greeting))
	if err != nil {
		return nil, err
	}
	second, err := encode(message)
	return append(first, second...), err
}

func (c *conn) write(text []byte, descriptors ...int) (err error) {
	c.sending.Lock()
	defer c.sending.Unlock()
	if err := c.SetWriteDeadline(time.Now().Add(messageLimit)); err != nil {
		return err
	}
	first := c.held
	c.held = nil
	n := 0
	if len(descriptors) > 0 {
		if len(first) > 0 { // descriptors would come with it
			if _, err := c.Write(first); err != nil {
				return err
			}
			first = nil
		}
		if n, _, err = c.WriteMsgUnix(text[:dial.HeaderBytes], unix.UnixRights(descriptors...), nil); err != nil {
			return err
		}
	}
	_, err = c.Write(append(first[:len(first):len(first)], text[n:]...))
	return err
}

// hold has text sent with the next message, if the other end has sent something
// already and so does not wait for it. Whoever calls hold calls flush before the
// end of the connection.
func (c *conn) hold(text []byte) error {
	waits := false
	raw, err := c.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
			waits = err == nil && n == 0
		})
	}
	if err != nil || waits {
		return errors.Join(err, c.write(text))
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	c.held = text
	return nil
}

func (c *conn) flush() {
	c.sending.Lock()
	defer c.sending.Unlock()
	if len(c.held) > 0 && c.SetWriteDeadline(time.Now().Add(messageLimit)) == nil {
		_, _ = c.Write(c.held) // fails if the other end has gone
	}
	c.held = nil
}

// maxDescriptors is the maximum number of descriptors in a message. The kernel
// closes any beyond it.
const maxDescriptors = 3

// receive waits for a message without a time limit. The caller closes the
// message's descriptors.
func (c *conn) receive(message any) (_ []*os.File, err error) {
	var header [dial.HeaderBytes]byte
	var files []*os.File
	defer func() {
		if err != nil {
			closeAll(files)
			files = nil
		}
	}()
	rights := make([]byte, unix.CmsgSpace(maxDescriptors*4))
	for at := 0; at < dial.HeaderBytes; {
		n, m, flags, err := c.readMessage(header[at:], rights)
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
		f.Close() // nothing for nil
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

// peer returns the process at the other end: see [dial.Peer].
func (c *conn) peer(strict bool) (pid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	if fault := raw.Control(func(fd uintptr) { pid, err = dial.Peer(int(fd), strict) }); fault != nil {
		return 0, fault
	}
	return pid, err
}
