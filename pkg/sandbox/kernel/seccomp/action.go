package seccomp

import (
	"fmt"
	"syscall"
)

// Action is a filter's answer to a system call: the 32-bit return value of the
// BPF program, with the action in the upper half and its data in the lower.
// Source: linux/seccomp.h. The kernel takes an action that it does not know for
// KillProcess (before Linux 4.14: for KillThread).
type Action uint32

// The actions, strictest first. If filters disagree, the kernel takes the
// strictest. With the first four, the call is not executed. KillThread leaves
// the other threads of a process running, possibly with a lock held that nobody
// releases, so KillProcess is the one to use. Trace lets a tracer change the
// call; before Linux 4.8 the kernel did not check the changed one again:
// seccomp(2).
const (
	KillProcess Action = 0x80000000 // SECCOMP_RET_KILL_PROCESS: the process dies by SIGSYS (Linux 4.14)
	KillThread  Action = 0x00000000 // SECCOMP_RET_KILL_THREAD: only the calling thread dies
	Trap        Action = 0x00030000 // SECCOMP_RET_TRAP: SIGSYS is sent and can be handled
	errnoAction Action = 0x00050000 // SECCOMP_RET_ERRNO, data is the errno
	Notify      Action = 0x7fc00000 // SECCOMP_RET_USER_NOTIF: the listener decides; ENOSYS without one (Linux 5.0)
	Trace       Action = 0x7ff00000 // SECCOMP_RET_TRACE: a tracer decides; ENOSYS without one
	Log         Action = 0x7ffc0000 // SECCOMP_RET_LOG: allowed and logged
	Allow       Action = 0x7fff0000 // SECCOMP_RET_ALLOW

	actionMask Action = 0xffff0000 // SECCOMP_RET_ACTION_FULL
	dataMask   Action = 0x0000ffff // SECCOMP_RET_DATA
)

// maxErrno is MAX_ERRNO of linux/err.h. The kernel reduces a greater value to
// it.
const maxErrno = 4095

// Errno returns the action that answers a call with an error number, 1 to 4095,
// without executing it. 0 would make the call return success without an effect.
func Errno(n syscall.Errno) Action { return errnoAction | Action(n)&dataMask }

// rank orders actions, strictest lowest. Like the kernel, it compares them as
// signed numbers (kernel/seccomp.c, seccomp_run_filters). As unsigned numbers,
// KillProcess would be the weakest of all. The data does not count.
func (a Action) rank() int32 { return int32(a & actionMask) }

// String returns the action as the disassembly prints it: ALLOW, ERRNO(38
// ENOSYS), KILL_PROCESS.
func (a Action) String() string {
	switch a & actionMask {
	case KillProcess:
		return "KILL_PROCESS"
	case KillThread:
		return "KILL_THREAD"
	case Trap:
		return "TRAP"
	case errnoAction:
		return fmt.Sprintf("ERRNO(%d %s)", a&dataMask, errnoName(int(a&dataMask)))
	case Notify:
		return "USER_NOTIF"
	case Trace:
		return fmt.Sprintf("TRACE(%d)", a&dataMask)
	case Log:
		return "LOG"
	case Allow:
		return "ALLOW"
	}
	return fmt.Sprintf("%#08x", uint32(a))
}

// errnoNames are the numbers of asm-generic/errno-base.h and
// asm-generic/errno.h that filters use. They are the same on amd64 and arm64,
// and are listed here because the text may be printed on another system. MIPS,
// PA-RISC, SPARC and Alpha have other numbers, and are not supported.
var errnoNames = [...]struct {
	number int
	name   string
}{
	{1, "EPERM"}, {2, "ENOENT"}, {3, "ESRCH"}, {4, "EINTR"}, {5, "EIO"}, {9, "EBADF"}, {11, "EAGAIN"}, {12, "ENOMEM"},
	{13, "EACCES"}, {14, "EFAULT"}, {16, "EBUSY"}, {17, "EEXIST"}, {19, "ENODEV"}, {22, "EINVAL"}, {25, "ENOTTY"},
	{28, "ENOSPC"}, {30, "EROFS"}, {38, "ENOSYS"}, {93, "EPROTONOSUPPORT"}, {94, "ESOCKTNOSUPPORT"},
	{95, "EOPNOTSUPP"}, {97, "EAFNOSUPPORT"}, {101, "ENETUNREACH"}, {111, "ECONNREFUSED"},
}

func errnoName(n int) string {
	for _, e := range errnoNames {
		if e.number == n {
			return e.name
		}
	}
	return "errno"
}

// The errno values of [DenyPrivilege] on Linux; package syscall has those of
// the build system.
const (
	ePERM           syscall.Errno = 1
	eNOENT          syscall.Errno = 2
	eNOSYS          syscall.Errno = 38
	ePROTONOSUPPORT syscall.Errno = 93
	eOPNOTSUPP      syscall.Errno = 95
	eAFNOSUPPORT    syscall.Errno = 97
)
