//go:build unix

package relay

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// readable waits until a read would not block: for bytes or the end. The error
// of a connection is returned here, because recv(2) tells it once.
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

// notConnected reports the shutdown(2) of a connection that is gone.
func notConnected(err error) bool { return errors.Is(err, unix.ENOTCONN) }
