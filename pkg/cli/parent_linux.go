package cli

import (
	"errors"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

var errOrphan = errors.New("the parent process has ended")

// DieWithParent asks the kernel to kill this process when its parent ends:
// prctl(2), PR_SET_PDEATHSIG. Everything inside dies with it. The setting
// belongs to a thread, so one thread is kept for it. If the parent ends during
// the call, DieWithParent returns an error.
func DieWithParent() error {
	parent, set := os.Getppid(), make(chan error)
	go func() {
		runtime.LockOSThread()
		set <- unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
		select {}
	}()
	if err := <-set; err != nil {
		return err
	}
	if os.Getppid() != parent {
		return errOrphan
	}
	return nil
}
