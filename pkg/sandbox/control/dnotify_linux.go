package control

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// arm requests SIGIO, blocked, and readable from events: signalfd(2). The thread stays locked,
// because its signal mask and the owner of the signal are its own. If that is not possible (a
// kernel without CONFIG_DNOTIFY, a directory that cannot be listed), the names are polled.
func (w *protectedPaths) arm() {
	var set unix.Sigset_t
	set.Val[(unix.SIGIO-1)/64] |= 1 << ((unix.SIGIO - 1) % 64)
	runtime.LockOSThread()
	if unix.PthreadSigmask(unix.SIG_BLOCK, &set, &w.mask) != nil {
		runtime.UnlockOSThread()
		return
	}
	fd, err := unix.Signalfd(-1, &set, unix.SFD_CLOEXEC|unix.SFD_NONBLOCK)
	for i := 0; err == nil && i < len(w.dirs); i++ {
		err = w.dirs[i].arm()
	}
	if err == nil {
		w.events = fd
		return
	}
	if fd >= 0 {
		unix.Close(fd)
	}
	unix.PthreadSigmask(unix.SIG_SETMASK, &w.mask, nil)
	runtime.UnlockOSThread()
}

// fOwner is struct f_owner_ex. The constants are from asm-generic/fcntl.h and
// linux/fcntl.h.
type fOwner struct{ kind, pid int32 }

const (
	fSetOwnEx   = 15
	fOwnerTID   = 0
	dnCreate    = 4 // includes links and what is moved in: dnotify.h, FS_MOVED_TO in convert_arg of dnotify.c
	dnMultishot = 0x80000000
)

// arm requests a signal to the calling thread when something is created in the directory.
// The owner is set first, because F_NOTIFY keeps an existing one.
func (d *protectedDir) arm() error {
	dir, err := os.OpenFile(procPath(d.dir), os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	d.signal = dir
	owner := fOwner{fOwnerTID, int32(unix.Gettid())}
	if _, _, e := unix.Syscall(unix.SYS_FCNTL, dir.Fd(), fSetOwnEx, uintptr(unsafe.Pointer(&owner))); e != 0 {
		return e
	}
	events := uint32(dnCreate | dnMultishot) // not a constant: it exceeds an int of 32 bits
	_, err = unix.FcntlInt(dir.Fd(), unix.F_NOTIFY, int(events))
	return err
}
