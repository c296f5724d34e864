package limits

import (
	"errors"
	"os"
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

// Threads counts the threads of a user: what RLIMIT_NPROC counts in the first user
// namespace, setrlimit(2). One whose process hides from its user is missed.
func Threads(uid int) (n int64) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if name := e.Name(); name[0] < '1' || name[0] > '9' {
			continue
		}
		var process, tasks unix.Stat_t // a directory has a link for each that is in it, and two: proc_pid_task(5)
		if unix.Stat("/proc/"+e.Name(), &process) == nil && int(process.Uid) == uid && unix.Stat("/proc/"+e.Name()+"/task", &tasks) == nil {
			n += int64(tasks.Nlink) - 2
		}
	}
	return n
}
