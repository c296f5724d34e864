//go:build unix

package relay

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// readable waits until a read would not block: until there are bytes, or the
// end of the stream. It returns the error of the connection, because recv(2)
// reports it only once.
func readable(c *net.TCPConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var b [1]byte
	var pending error
	err = raw.Read(func(fd uintptr) bool {
		_, _, pending = unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK)
		return !errors.Is(pending, unix.EAGAIN) && !errors.Is(pending, unix.EINTR)
	})
	if err != nil {
		return err
	}
	return pending
}

// notConnected reports whether err is the error of shutdown(2) on a connection
// that no longer exists.
func notConnected(err error) bool { return errors.Is(err, unix.ENOTCONN) }
