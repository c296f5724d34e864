//go:build amd64 || arm64

package faultinject

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// controlFD is where a helper talks to its test: calls on it are let through.
const controlFD = 200

// Runtime returns the calls of the Go runtime about which the listener need not
// be asked: those that would only cost time, and those that cannot fail.
// crypto/rand ends the program when the kernel has no random numbers, and the
// runtime when it cannot create its poller.
func Runtime() []uint32 {
	return []uint32{
		unix.SYS_FUTEX, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_CTL, unix.SYS_SCHED_YIELD, unix.SYS_MADVISE, unix.SYS_MUNMAP,
		unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_TGKILL, unix.SYS_RT_SIGRETURN, unix.SYS_CLOCK_GETTIME, unix.SYS_SIGALTSTACK,
		unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_RESTART_SYSCALL, unix.SYS_UMASK, unix.SYS_GETRANDOM, unix.SYS_EPOLL_CREATE1, unix.SYS_EVENTFD2,
	}
}

// filter asks a listener about every call but those unseen and those on the
// control descriptor.
func filter(unseen []uint32) []unix.SockFilter {
	const load, equal, ret = 0x20, 0x15, 0x06
	program := []unix.SockFilter{{Code: load, K: 16}, {Code: equal, K: controlFD, Jf: 1}, {Code: ret, K: unix.SECCOMP_RET_ALLOW}, {Code: load, K: 0}}
	for i, nr := range unseen {
		program = append(program, unix.SockFilter{Code: equal, K: nr, Jt: uint8(len(unseen) - i)})
	}
	return append(program, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_USER_NOTIF}, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW})
}

// listen puts the filter on all threads of this process and returns the
// descriptor of its listener. Without CAP_SYS_ADMIN it needs no_new_privs:
// seccomp(2).
func listen(unseen []uint32) (int, error) {
	list := filter(unseen)
	program := &unix.SockFprog{Len: uint16(len(list)), Filter: &list[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_TSYNC|unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH, uintptr(unsafe.Pointer(program)))
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}
