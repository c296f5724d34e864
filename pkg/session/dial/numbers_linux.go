//go:build !386

package dial

import "syscall"

// The numbers of system calls; i386 has others.
const (
	sysFstat      = syscall.SYS_FSTAT
	sysSocket     = syscall.SYS_SOCKET
	sysConnect    = syscall.SYS_CONNECT
	sysGetsockopt = syscall.SYS_GETSOCKOPT
	sysSendmsg    = syscall.SYS_SENDMSG
	sysRecvmsg    = syscall.SYS_RECVMSG
)
