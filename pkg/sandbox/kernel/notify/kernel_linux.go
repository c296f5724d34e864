package notify

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// request is struct seccomp_notif of linux/seccomp.h.
type request struct {
	id    uint64
	pid   uint32 // the calling thread, in the receiver's PID namespace
	flags uint32
	nr    int32 // struct seccomp_data begins here
	arch  uint32
	ip    uint64
	args  [6]uint64
}

// response is struct seccomp_notif_resp.
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

// valid reports whether the caller still waits. If so, its pid and what was read through it
// were its own.
func (j *Judge) valid(id uint64) bool {
	return ioctl(j.listener, unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&id)) == nil
}

// answer completes a call, if its caller still waits.
func (j *Judge) answer(id uint64, errno error) {
	r := response{id: id}
	if errno != nil {
		e := unix.EACCES
		errors.As(errno, &e)
		r.errno = -int32(e)
	}
	ioctl(j.listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
}

// proceed makes the kernel execute a call on which nothing is decided.
func (j *Judge) proceed(id uint64) {
	ioctl(j.listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&response{id: id, flags: flagContinue}))
}

// network returns the network namespace of a socket: SIOCGSKNS, which needs CAP_NET_ADMIN
// over it. The judge has that over the command's own namespace, as the owner of its user
// namespace.
func network(socket int) (identity, error) {
	fd, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(socket), unix.SIOCGSKNS, 0)
	if e != 0 {
		return identity{}, e
	}
	defer unix.Close(int(fd))
	return identify(int(fd))
}

// boundFile opens the file to which a socket is bound, with O_PATH.
func boundFile(socket int) (int, error) {
	fd, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(socket), sioCUnixFile, 0)
	if e != 0 {
		return -1, e
	}
	return int(fd), nil
}

// identity distinguishes two files while both are open.
type identity struct{ device, inode uint64 }

func identify(fd int) (identity, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	return identity{st.Dev, st.Ino}, err
}

// dropPrivileges drops all capabilities of the calling thread except those in but. The
// thread must never run anything else. The judge must not reach a file that the command's
// user could not, and a command of root has no capabilities unless [Options.Override] is
// set.
func dropPrivileges(but uint32) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	none := [2]unix.CapUserData{{Effective: but, Permitted: but}}
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("judge of connect: capset: %w", err)
	}
	return nil
}

// connect calls connect(2) with an address as the caller wrote it.
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

// connectTo connects to the file that a descriptor refers to.
func connectTo(socket, file int) error {
	name := fmt.Sprintf("/proc/self/fd/%d", file)
	address := make([]byte, 2, 2+len(name)+1)
	*(*uint16)(unsafe.Pointer(&address[0])) = unix.AF_UNIX
	return connect(socket, append(append(address, name...), 0))
}
