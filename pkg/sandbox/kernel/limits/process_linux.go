package limits

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// isNoProcess reports whether a file of proc(5) exists, but its process has
// ended. This is so if the file was opened before, and for smaps_rollup until
// the process is reaped. Afterwards the name is gone: ENOENT.
func isNoProcess(err error) bool { return errors.Is(err, syscall.ESRCH) }

const kcmpVM = 1 // KCMP_VM of linux/kcmp.h

// sameMemory reports whether two processes share an address space: kcmp(2). It
// returns false if the kernel does not say. It does not if CONFIG_KCMP is off
// (ENOSYS) or if this process may not trace both (EPERM).
func sameMemory(a, b int) bool {
	r, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(a), uintptr(b), kcmpVM, 0, 0, 0)
	return errno == 0 && r == 0
}

// Threads returns the number of a user's threads, which RLIMIT_NPROC counts in
// the initial user namespace: setrlimit(2). It misses processes that are hidden
// from their user. A mount option hidepid of proc(5) hides them. The effective
// user ID is what owns /proc/PID, and root owns that of a process that is not
// dumpable, so such ones are missed, too.
func Threads(uid int) (n int64) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if name := e.Name(); name[0] < '1' || name[0] > '9' {
			continue
		}
		var process, tasks unix.Stat_t // the link count of a directory is two plus its subdirectories: proc_pid_task(5)
		if unix.Stat("/proc/"+e.Name(), &process) == nil && int(process.Uid) == uid && unix.Stat("/proc/"+e.Name()+"/task", &tasks) == nil {
			n += int64(tasks.Nlink) - 2
		}
	}
	return n
}
