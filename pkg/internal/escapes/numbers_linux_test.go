package escapes

import "golang.org/x/sys/unix"

// numbers are the system calls that cases name.
var numbers = map[string]uintptr{
	"acct": unix.SYS_ACCT, "add_key": unix.SYS_ADD_KEY, "adjtimex": unix.SYS_ADJTIMEX, "bind": unix.SYS_BIND, "bpf": unix.SYS_BPF, "chroot": unix.SYS_CHROOT,
	"clock_adjtime": unix.SYS_CLOCK_ADJTIME, "clock_settime": unix.SYS_CLOCK_SETTIME, "clone": unix.SYS_CLONE, "clone3": unix.SYS_CLONE3, "close": unix.SYS_CLOSE, "copy_file_range": unix.SYS_COPY_FILE_RANGE,
	"delete_module": unix.SYS_DELETE_MODULE, "dup": unix.SYS_DUP, "execveat": unix.SYS_EXECVEAT, "fallocate": unix.SYS_FALLOCATE, "fanotify_init": unix.SYS_FANOTIFY_INIT, "fchdir": unix.SYS_FCHDIR,
	"fchmod": unix.SYS_FCHMOD, "fchmodat": unix.SYS_FCHMODAT, "fchownat": unix.SYS_FCHOWNAT, "finit_module": unix.SYS_FINIT_MODULE, "fsconfig": unix.SYS_FSCONFIG, "fsetxattr": unix.SYS_FSETXATTR,
	"fsmount": unix.SYS_FSMOUNT, "fsopen": unix.SYS_FSOPEN, "fspick": unix.SYS_FSPICK, "ftruncate": unix.SYS_FTRUNCATE, "getpid": unix.SYS_GETPID, "init_module": unix.SYS_INIT_MODULE, "ioctl": unix.SYS_IOCTL,
	"io_uring_setup": unix.SYS_IO_URING_SETUP, "io_uring_enter": unix.SYS_IO_URING_ENTER, "io_uring_register": unix.SYS_IO_URING_REGISTER, "ioprio_set": unix.SYS_IOPRIO_SET,
	"kexec_load": unix.SYS_KEXEC_LOAD, "kexec_file_load": unix.SYS_KEXEC_FILE_LOAD, "keyctl": unix.SYS_KEYCTL, "kill": unix.SYS_KILL, "lseek": unix.SYS_LSEEK, "linkat": unix.SYS_LINKAT, "memfd_create": unix.SYS_MEMFD_CREATE,
	"mknodat": unix.SYS_MKNODAT, "mount": unix.SYS_MOUNT, "mount_setattr": unix.SYS_MOUNT_SETATTR, "move_mount": unix.SYS_MOVE_MOUNT, "name_to_handle_at": unix.SYS_NAME_TO_HANDLE_AT,
	"open_by_handle_at": unix.SYS_OPEN_BY_HANDLE_AT, "open_tree": unix.SYS_OPEN_TREE, "mmap": unix.SYS_MMAP, "openat": unix.SYS_OPENAT, "openat2": unix.SYS_OPENAT2, "perf_event_open": unix.SYS_PERF_EVENT_OPEN, "personality": unix.SYS_PERSONALITY,
	"pidfd_getfd": unix.SYS_PIDFD_GETFD, "pidfd_open": unix.SYS_PIDFD_OPEN, "pidfd_send_signal": unix.SYS_PIDFD_SEND_SIGNAL, "pivot_root": unix.SYS_PIVOT_ROOT, "prctl": unix.SYS_PRCTL, "prlimit64": unix.SYS_PRLIMIT64,
	"process_madvise": unix.SYS_PROCESS_MADVISE, "process_vm_readv": unix.SYS_PROCESS_VM_READV, "process_vm_writev": unix.SYS_PROCESS_VM_WRITEV, "ptrace": unix.SYS_PTRACE, "quotactl": unix.SYS_QUOTACTL,
	"read": unix.SYS_READ, "reboot": unix.SYS_REBOOT, "renameat2": unix.SYS_RENAMEAT2, "request_key": unix.SYS_REQUEST_KEY, "rt_sigqueueinfo": unix.SYS_RT_SIGQUEUEINFO, "sched_setscheduler": unix.SYS_SCHED_SETSCHEDULER,
	"sethostname": unix.SYS_SETHOSTNAME, "setdomainname": unix.SYS_SETDOMAINNAME, "setgid": unix.SYS_SETGID, "setgroups": unix.SYS_SETGROUPS, "setns": unix.SYS_SETNS, "setpriority": unix.SYS_SETPRIORITY, "setresuid": unix.SYS_SETRESUID,
	"sendto": unix.SYS_SENDTO, "setsockopt": unix.SYS_SETSOCKOPT, "setuid": unix.SYS_SETUID, "shmget": unix.SYS_SHMGET, "socket": unix.SYS_SOCKET, "socketpair": unix.SYS_SOCKETPAIR, "splice": unix.SYS_SPLICE, "swapon": unix.SYS_SWAPON, "swapoff": unix.SYS_SWAPOFF, "syslog": unix.SYS_SYSLOG,
	"settimeofday": unix.SYS_SETTIMEOFDAY, "symlinkat": unix.SYS_SYMLINKAT, "umount2": unix.SYS_UMOUNT2, "unlinkat": unix.SYS_UNLINKAT, "unshare": unix.SYS_UNSHARE, "userfaultfd": unix.SYS_USERFAULTFD, "utimensat": unix.SYS_UTIMENSAT,
	"vhangup": unix.SYS_VHANGUP, "write": unix.SYS_WRITE, "capset": unix.SYS_CAPSET, "seccomp": unix.SYS_SECCOMP, "mkdirat": unix.SYS_MKDIRAT, "msgget": unix.SYS_MSGGET, "kcmp": unix.SYS_KCMP, "getdents64": unix.SYS_GETDENTS64, "inotify_init1": unix.SYS_INOTIFY_INIT1,
	"sched_setaffinity": unix.SYS_SCHED_SETAFFINITY, "sched_setparam": unix.SYS_SCHED_SETPARAM, "sched_setattr": unix.SYS_SCHED_SETATTR,
}
