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
	pid   uint32 // of the calling thread, in the namespace of the process that receives
	flags uint32
	nr    int32 // from here on struct seccomp_data
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
	syncWakeUp     = 1 << 0 // SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (Linux 6.6): the answer is given on the caller's processor
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

// valid reports whether the caller still waits: then its pid, and what was read by it, were its own.
func (j *Judge) valid(id uint64) bool {
	return ioctl(j.listener, unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&id)) == nil
}

// answer ends a call. It reports false when the caller no longer waits.
func (j *Judge) answer(id uint64, errno error) bool {
	r := response{id: id}
	if errno != nil {
		e := unix.EACCES
		errors.As(errno, &e)
		r.errno = -int32(e)
	}
	return ioctl(j.listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r)) == nil
}

// proceed has the kernel carry out a call that was not decided about.
func (j *Judge) proceed(id uint64) {
	ioctl(j.listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&response{id: id, flags: flagContinue}))
}

// network is the network namespace that a socket belongs to: SIOCGSKNS, which asks for CAP_NET_ADMIN over it. Over the command's own the judge has it, as the owner of the
// user namespace it is in.
func network(socket int) (identity, error) {
	fd, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(socket), unix.SIOCGSKNS, 0)
	if e != 0 {
		return identity{}, e
	}
	defer unix.Close(int(fd))
	return identify(int(fd))
}

// boundFile opens the file that a socket is bound to, with O_PATH.
func boundFile(socket int) (int, error) {
	fd, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(socket), sioCUnixFile, 0)
	if e != 0 {
		return -1, e
	}
	return int(fd), nil
}

// identity tells two files apart, while both are open.
type identity struct{ device, inode uint64 }

func identify(fd int) (identity, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	return identity{st.Dev, st.Ino}, err
}

// dropPrivileges leaves the calling thread, which must never run anything else, without capabilities but those of a set: the judge must not reach a file that the command's user
// could not, and root's command has none but for [Options.Override].
func dropPrivileges(but uint32) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	none := [2]unix.CapUserData{{Effective: but, Permitted: but}}
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("judge of connect: capset: %w", err)
	}
	return nil
}

// connect is connect(2) with an address as the caller wrote it.
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

// connectTo connects to the file that a descriptor holds.
func connectTo(socket, file int) error {
	name := fmt.Sprintf("/proc/self/fd/%d", file)
	address := make([]byte, 2, 2+len(name)+1)
	*(*uint16)(unsafe.Pointer(&address[0])) = unix.AF_UNIX
	return connect(socket, append(append(address, name...), 0))
}
