package dial

import "syscall"

// The numbers of system calls that package syscall does not use on i386:
// arch/x86/entry/syscalls/syscall_32.tbl.
const (
	sysFstat      = syscall.SYS_FSTAT64
	sysSocket     = 359
	sysConnect    = 362
	sysGetsockopt = 365
	sysSendmsg    = 370
	sysRecvmsg    = 372
)
