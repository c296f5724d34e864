package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// HungUp reports whether nobody reads a pipe or socket any more.
func HungUp(f *os.File) bool {
	list := []unix.PollFd{{Fd: int32(f.Fd())}}
	_, err := unix.Poll(list, 0)
	return err == nil && list[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0
}
