package cli

import "golang.org/x/sys/unix"

// full reports whether a write to a descriptor would block: poll(2).
func full(fd int) bool {
	at := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	n, err := unix.Poll(at, 0)
	return err == nil && n == 0
}
