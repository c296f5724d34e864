package cmdserver

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"ethos/pkg/session/dial"
)

// call is what a caller has passed.
type call struct {
	dial.Call
	conn int
	fds  []int // the standard streams, and the directory
}

func receive(fd int, text []byte) (*call, error) {
	control := make([]byte, unix.CmsgSpace(dial.CallFDs*4))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: patience}); err != nil {
		return nil, err
	}
	n, controls, flags, _, err := unix.Recvmsg(fd, text, control, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, err
	}
	c := &call{conn: fd}
	c.fds, err = passed(control[:controls])
	if err == nil && (flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 || len(c.fds) != dial.CallFDs) {
		err = unix.EBADMSG
	}
	if err == nil {
		c.Call, err = parse(string(text[:n]))
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func passed(control []byte) (fds []int, err error) {
	messages, err := unix.ParseSocketControlMessage(control)
	for _, m := range messages {
		more, failed := unix.ParseUnixRights(&m)
		fds, err = append(fds, more...), errors.Join(err, failed)
	}
	return fds, err
}

// parse is the reverse of [dial.Call.AppendTo].
func parse(text string) (c dial.Call, err error) {
	args, size := binary.Uvarint([]byte(text))
	if size <= 0 || !strings.HasSuffix(text[size:], "\x00") {
		return c, unix.EBADMSG
	}
	words := strings.Split(text[size:len(text)-1], "\x00")
	if args >= uint64(len(words)) {
		return c, unix.EBADMSG
	}
	return dial.Call{Dir: words[0], Args: words[1 : 1+args], Env: words[1+args:]}, nil
}

func (c *call) close() {
	for _, fd := range c.fds {
		unix.Close(fd)
	}
	c.fds = nil
}

// end closes the streams and tells the caller its status. It then ends.
func (c *call) end(status byte) {
	c.close()
	_ = unix.Send(c.conn, []byte{status}, unix.MSG_NOSIGNAL) // fails if the caller is gone
}

// maxInput limits, in bytes, the input of a call.
const maxInput = 64 << 20

var errCaller = errors.New("the caller is gone")

// read returns the whole input, with the error that ends it, if any. It returns
// nil if the caller is gone.
func (c *call) read() io.Reader {
	text, err := c.readAll()
	switch {
	case errors.Is(err, errCaller):
		return nil
	case err != nil:
		return io.MultiReader(bytes.NewReader(text), failing{&fs.PathError{Op: "read", Path: os.Stdin.Name(), Err: err}})
	}
	return bytes.NewReader(text)
}

// failing is a reader of an error.
type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

func (c *call) readAll() (text []byte, err error) {
	for text = make([]byte, 0, 4<<10); ; {
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		if err := c.wait(unix.Stdin, unix.POLLIN); err != nil {
			return text, err
		}
		n, err := unix.Read(c.fds[unix.Stdin], text[len(text):cap(text)])
		switch {
		case errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN):
			continue
		case err != nil:
			return text, err
		case n == 0:
			return text, nil
		}
		if text = text[:len(text)+n]; len(text) > maxInput {
			return text, unix.EFBIG
		}
	}
}

// pipeBuf is PIPE_BUF of pipe(7): what a pipe that is ready takes without waiting.
const pipeBuf = 4096

// write writes to a standard stream. It does not wait for longer than the caller
// lives.
func (c *call) write(stream int, text []byte) error {
	for len(text) > 0 {
		if err := c.wait(stream, unix.POLLOUT); err != nil {
			return err
		}
		n, err := unix.Write(c.fds[stream], text[:min(len(text), pipeBuf)])
		if err != nil && !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
			return err
		}
		text = text[max(n, 0):]
	}
	return nil
}

// wait waits until a stream is ready. The error is [errCaller] if the caller ends
// before that.
func (c *call) wait(stream int, events int16) error {
	list := []unix.PollFd{{Fd: int32(c.fds[stream]), Events: events}, {Fd: int32(c.conn), Events: unix.POLLIN | unix.POLLRDHUP}}
	for {
		_, err := unix.Poll(list, -1)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case list[1].Revents != 0:
			return errCaller
		case list[0].Revents != 0:
			return nil
		}
	}
}
