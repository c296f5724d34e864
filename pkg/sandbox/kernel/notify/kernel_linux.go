package notify

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// request is struct seccomp_notif of linux/seccomp.h. It must be zero when
// SECCOMP_IOCTL_NOTIF_RECV is called, else the kernel answers EINVAL (since
// Linux 5.5).
type request struct {
	id    uint64
	pid   uint32 // the calling thread, in the receiver's PID namespace
	flags uint32
	nr    int32 // struct seccomp_data begins here
	arch  uint32
	ip    uint64
	args  [6]uint64
}

// response is struct seccomp_notif_resp. value is what the call returns if
// errno is 0. Both must be 0 with flagContinue, else the kernel answers EINVAL.
type response struct {
	id    uint64
	value int64
	errno int32 // negative, or 0
	flags uint32
}

const (
	flagContinue   = 1 << 0 // SECCOMP_USER_NOTIF_FLAG_CONTINUE (Linux 5.5)
	syncWakeUp     = 1 << 0 // SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (Linux 6.6): answer on the caller's processor
	sioCUnixFile   = 0x89e0 // SIOCUNIXFILE of linux/un.h (Linux 4.13): SIOCPROTOPRIVATE + 0
	pidfdThread    = unix.O_EXCL
	storageSize    = 128 // struct sockaddr_storage
	sockaddrUnSize = 110 // struct sockaddr_un
)

// ioctl repeats a call that a signal interrupts. The runtime sends SIGURG to
// preempt a thread (runtime/signal_unix.go), so EINTR says nothing about the
// listener.
func ioctl(fd int, request uintptr, arg unsafe.Pointer) error {
	for {
		if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg)); e != unix.EINTR {
			if e != 0 {
				return e
			}
			return nil
		}
	}
}

// valid reports whether the caller still waits. If so, its pid and what was
// read through it were its own. It must be asked after a read and before the
// result is used: a signal handler of the caller can run at any time and
// overwrite the memory of the call that it interrupted. See "Caveats regarding
// the use of /proc/[tid]/mem" in seccomp_unotify(2).
func (j *Judge) valid(id uint64) bool {
	return ioctl(j.listener, unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&id)) == nil
}

// answer completes a call, if its caller still waits. nil is the result 0. An
// error that is no errno becomes EACCES, so that a failure of the judge never
// looks like a connection.
//
// If a signal interrupted the call, the kernel refuses the answer with ENOENT.
// It restarts the call after the handler if that has SA_RESTART, and a new
// notification comes.
func (j *Judge) answer(id uint64, errno error) {
	r := response{id: id}
	if errno != nil {
		e := unix.EACCES
		errors.As(errno, &e)
		r.errno = -int32(e)
	}
	ioctl(j.listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
}

// proceed makes the kernel execute a call on which nothing is decided. The
// kernel reads the memory of the call again, which may have changed.
func (j *Judge) proceed(id uint64) {
	ioctl(j.listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&response{id: id, flags: flagContinue}))
}

// network returns the network namespace of a socket: SIOCGSKNS, which needs
// CAP_NET_ADMIN over it. The judge has that over the command's own namespace,
// as the owner of its user namespace. A socket of the host's namespace yields
// EPERM, because the judge has dropped its capabilities.
func network(socket int) (identity, error) {
	fd, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(socket), unix.SIOCGSKNS, 0)
	if e != 0 {
		return identity{}, e
	}
	defer unix.Close(int(fd))
	return identify(int(fd))
}

// boundFile opens the file to which a socket is bound, with O_PATH. It needs
// CAP_NET_ADMIN like SIOCGSKNS. ENOENT means that the socket is not bound, or
// to an abstract name (unix_open_file in net/unix/af_unix.c). The descriptor is
// close-on-exec.
func boundFile(socket int) (int, error) {
	fd, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(socket), sioCUnixFile, 0)
	if e != 0 {
		return -1, e
	}
	return int(fd), nil
}

// identity distinguishes two files while both are open. When the last reference
// to a file is gone, its inode number can be given to another one.
type identity struct{ device, inode uint64 }

func identify(fd int) (identity, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	return identity{st.Dev, st.Ino}, err
}

// dropPrivileges drops all capabilities of the calling thread except those in
// but. The thread must never run anything else. The judge must not reach a file
// that the command's user could not, and a command of root has no capabilities
// unless [Options.Override] is set. capset(2) concerns one thread only, and so
// the rest of this process keeps its capabilities. but has the capabilities 0
// to 31.
//
// The judge's right over the namespaces of the command does not rest on
// capabilities of its own: a process in the parent namespace with the effective
// user ID of the creator has all capabilities in a user namespace,
// user_namespaces(7).
func dropPrivileges(but uint32) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	none := [2]unix.CapUserData{{Effective: but, Permitted: but}}
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("connect check: capset: %w", err)
	}
	return nil
}

// connect calls connect(2) with an address as the caller wrote it.
// [unix.Connect] takes a parsed address and cannot pass on one that it does not
// know. Here the kernel parses it, so the caller gets the kernel's error.
func connect(socket int, address []byte) error {
	var at unsafe.Pointer
	if len(address) > 0 {
		at = unsafe.Pointer(&address[0])
	}
	if _, _, e := unix.Syscall(unix.SYS_CONNECT, uintptr(socket), uintptr(at), uintptr(len(address))); e != 0 {
		return e
	}
	return nil
}

// connectTo connects to the file that a descriptor refers to. The kernel
// follows the magic link to the inode of the descriptor without a look-up by
// name (unix_find_bsd follows links), so a rename since the judgement changes
// nothing. It asks for write permission on the socket file with the credentials
// of this thread. The name always fits the 108 bytes of sun_path.
func connectTo(socket, file int) error {
	name := fmt.Sprintf("/proc/self/fd/%d", file)
	address := make([]byte, 2, 2+len(name)+1)
	*(*uint16)(unsafe.Pointer(&address[0])) = unix.AF_UNIX
	return connect(socket, append(append(address, name...), 0))
}
