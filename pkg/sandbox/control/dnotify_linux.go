package control

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/mount"
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
		w.dirs[i].signal, err = notified(procPath(w.dirs[i].dir))
	}
	dirs := w.mountPoints()
	for i := 0; err == nil && i < len(dirs); i++ {
		var dir, f *os.File
		if dir, err = openDirectory(dirs[i]); err != nil {
			break
		}
		if f, err = notified(procPath(dir)); err == nil {
			w.moves = append(w.moves, f)
		}
		dir.Close()
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

// mountPoints returns the directories in writable trees that have mount points, other than
// those with protected names. Somebody outside can rename a mount point in them, which takes
// the mount along and changes nothing in the mount table that would be notified.
func (w *protectedPaths) mountPoints() (list []string) {
	for i := range w.Mounts {
		dir := filepath.Dir(w.Mounts[i].Target)
		above := mount.Covering(w.Mounts, dir)
		if above == nil || above.Kind != mount.Bind || !above.Writable || slices.Contains(list, dir) ||
			slices.ContainsFunc(w.dirs, func(d protectedDir) bool { return d.Dir == dir }) {
			continue
		}
		list = append(list, dir)
	}
	return list
}

// fOwner is struct f_owner_ex. The constants are from asm-generic/fcntl.h and
// linux/fcntl.h.
type fOwner struct{ kind, pid int32 }

const (
	fSetOwnEx   = 15
	fOwnerTID   = 0
	dnCreate    = 4 // includes links and what is moved in: dnotify.h, FS_MOVED_TO in convert_arg of dnotify.c
	dnDelete    = 8 // includes what is moved away: FS_MOVED_FROM
	dnMultishot = 0x80000000
)

// notified opens a directory, and requests a signal to the calling thread when something is
// created, removed or renamed in it. The owner is set first, because F_NOTIFY keeps an
// existing one.
func notified(path string) (*os.File, error) {
	dir, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	owner := fOwner{fOwnerTID, int32(unix.Gettid())}
	if _, _, e := unix.Syscall(unix.SYS_FCNTL, dir.Fd(), fSetOwnEx, uintptr(unsafe.Pointer(&owner))); e != 0 {
		err = e
	}
	if err == nil {
		events := uint32(dnCreate | dnDelete | dnMultishot) // not a constant: it exceeds an int of 32 bits
		_, err = unix.FcntlInt(dir.Fd(), unix.F_NOTIFY, int(events))
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}
