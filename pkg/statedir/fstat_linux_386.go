package statedir

import "syscall"

// sysFstat is the system call that writes a [syscall.Stat_t].
const sysFstat = syscall.SYS_FSTAT64
