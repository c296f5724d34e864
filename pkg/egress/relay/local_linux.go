package relay

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// Local prepares a connection of this machine's loopback, or a listener for
// such. Where BBR is the machine's congestion control it would pace what is
// sent, which costs half of the throughput and keeps nobody from congestion.
// Reno is in every kernel and may be had by everyone: tcp(7), TCP_CONGESTION.
// Without it all works, and slower.
func Local(c syscall.Conn) {
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno")
	})
}
