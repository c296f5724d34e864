package trust

import "syscall"

// getNoNewPrivs is PR_GET_NO_NEW_PRIVS of linux/prctl.h.
const getNoNewPrivs = 39

// mayGain reports whether this process may gain privileges by executing a program, which nothing in
// the boundary may: no_new_privs, prctl(2). To ask costs less than to read /proc.
func mayGain() bool {
	set, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, getNoNewPrivs, 0, 0)
	return errno == 0 && set == 0
}
