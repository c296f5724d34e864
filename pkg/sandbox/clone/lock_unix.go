//go:build unix

package clone

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock opens a directory, for one process alone or for several.
func lock(dir string, alone bool) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	how := unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX
	}
	if err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrBusy
		}
		return nil, err
	}
	return f, nil
}

const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK
