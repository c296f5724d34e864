package cli

import (
	"errors"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

var errOrphan = errors.New("what started it has ended")

// DieWithParent has the kernel kill this process when its parent ends: prctl(2),
// PR_SET_PDEATHSIG. What runs inside dies with it. The setting is that of a
// thread, which is kept. A parent that ended in between was never seen.
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
