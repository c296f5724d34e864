package relay

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// Local prepares a connection over this machine's loopback, or a listener for
// such connections. If BBR is the system's congestion control, it would pace
// what is sent, which halves the throughput and prevents no congestion. Reno is
// in every kernel and available to every user: tcp(7), TCP_CONGESTION. If
// setting it fails, the connection works but is slower.
func Local(c syscall.Conn) {
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno")
	})
}
