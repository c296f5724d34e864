package limits

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// isNoProcess reports that proc has the file but no longer the process.
func isNoProcess(err error) bool { return errors.Is(err, syscall.ESRCH) }

const kcmpVM = 1 // KCMP_VM of linux/kcmp.h

// sameMemory reports that two processes share one address space: kcmp(2). It says no where the kernel does not tell.
func sameMemory(a, b int) bool {
	r, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(a), uintptr(b), kcmpVM, 0, 0, 0)
	return errno == 0 && r == 0
}
