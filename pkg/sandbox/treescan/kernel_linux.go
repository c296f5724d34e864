package treescan

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"ethos/pkg/lazy"
)

// resolve restricts a lookup to paths below the root, through directories only:
// openat2(2), Linux 5.6.
const resolve = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS

const openFlags = unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// longest limits the part of a path, in bytes, that is passed to one system
// call: less than PATH_MAX, limits.h.
const longest = 4000

// openRoot opens the root of a scan for lookups. Its path may be longer than
// PATH_MAX if it is a part of a tree.
func openRoot(path string) (int, error) {
	at := unix.AT_FDCWD
	for {
		part := path
		if len(part) > longest {
			part = part[:strings.LastIndexByte(part[:longest], '/')+1]
		}
		fd, err := openResolved(at, part, unix.O_PATH|openFlags)
		if at != unix.AT_FDCWD {
			unix.Close(at)
		}
		if path = path[len(part):]; err != nil || path == "" {
			return fd, err
		}
		at = fd
	}
}

func openFile(path string) (*os.File, error) {
	fd, err := openResolved(unix.AT_FDCWD, path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// openResolved opens a path in which no component is a symbolic link.
func openResolved(at int, path string, flags uint64) (int, error) {
	how := unix.OpenHow{Flags: flags, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	for {
		fd, err := unix.Openat2(at, path, &how)
		if err != unix.EINTR && err != unix.EAGAIN {
			return fd, err
		}
	}
}

// step is a directory that is kept open on the way to deeper ones.
type step struct {
	end int // length of its path
	fd  int
}

// nearest returns the deepest open directory along the path, and the length of
// its path.
func (w *worker) nearest() (dir, end int) {
	if last := len(w.way) - 1; last >= 0 {
		return w.way[last].fd, w.way[last].end
	}
	return w.fd, w.base
}

// stride is the length of path that is looked up at once. The kernel allows up
// to PATH_MAX (limits.h). A smaller value makes deep trees cheaper, because
// directories on the way are opened once for many below them.
const stride = 1 << 10

// reach returns an open directory and the rest of the path from there,
// terminated by a zero byte; "." for the root. It opens directories along the
// path until the rest is no longer than [stride]. They stay open for the next
// directory with the same path prefix.
func (w *worker) reach() (dir int, rest []byte, err error) {
	for {
		dir, end := w.nearest()
		if len(w.path) <= end {
			return dir, []byte(".\x00"), nil
		}
		w.path = append(w.path, 0)
		rest := w.path[end+1:]
		w.path = w.path[:len(w.path)-1]
		if len(rest) <= stride {
			return dir, rest, nil
		}
		cut := bytes.LastIndexByte(rest[:stride], '/')
		if cut < 0 {
			return -1, nil, unix.ENAMETOOLONG
		}
		if err := w.enter(end + 1 + cut); err != nil {
			return -1, nil, err
		}
	}
}

// enter opens the directory whose path has the length end, starting from the
// nearest open one.
func (w *worker) enter(end int) error {
	dir, from := w.nearest()
	fd, err := w.openat(dir, append(slices.Clone(w.path[from+1:end]), 0), unix.O_PATH)
	if err == nil {
		w.way = append(w.way, step{end, fd})
	}
	return err
}

// leave closes the directories whose path is longer than end.
func (w *worker) leave(end int) {
	for last := len(w.way) - 1; last >= 0 && w.way[last].end > end; last-- {
		unix.Close(w.way[last].fd)
		w.way = w.way[:last]
	}
}

// maxKept is the maximum number of directories kept open because many
// directories lie below them.
const maxKept = 16

// keep keeps the directory open for those below it, if they are so many that
// shorter lookups save more than the open costs. Otherwise they are looked up
// from further above.
func (w *worker) keep(record int) {
	if _, end := w.nearest(); len(w.path) > end && len(w.way) < maxKept && w.old.wide(record) {
		_ = w.enter(len(w.path))
	}
}

func (w *worker) open() (int, error) {
	dir, rest, err := w.reach()
	if err != nil {
		return -1, err
	}
	return w.openat(dir, rest, unix.O_RDONLY)
}

// openat opens a directory; path ends with a zero byte.
func (w *worker) openat(dir int, path []byte, flags uint64) (int, error) {
	w.how = unix.OpenHow{Flags: flags | openFlags, Resolve: resolve}
	for {
		fd, _, errno := unix.Syscall6(unix.SYS_OPENAT2, uintptr(dir), uintptr(unsafe.Pointer(unsafe.SliceData(path))),
			uintptr(unsafe.Pointer(&w.how)), unix.SizeofOpenHow, 0, 0)
		switch errno {
		case 0:
			return int(fd), nil
		case unix.EINTR, unix.EAGAIN:
			continue
		}
		return -1, errno
	}
}

// lstatAt reads the values that identify the state of a directory; path ends
// with a zero byte. This is most of the work of a scan. The kernel usually has
// the answer cached, so the call bypasses the Go scheduler.
func lstatAt(dir int, path []byte, st *unix.Stat_t) error {
	const flags = unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT
	for {
		_, _, errno := unix.RawSyscall6(sysFstatat, uintptr(dir), uintptr(unsafe.Pointer(unsafe.SliceData(path))), uintptr(unsafe.Pointer(st)), flags, 0, 0)
		switch errno {
		case 0:
			return nil
		case unix.EINTR:
			continue
		}
		return errno
	}
}

func getdents(fd int, buf []byte) (int, error) {
	for {
		n, err := unix.Getdents(fd, buf)
		if err != unix.EINTR {
			return n, err
		}
	}
}

// typeOf returns the type for a d_type of struct linux_dirent64: readdir(3). For
// other values, above all DT_UNKNOWN, it is not known, and the inode is read.
func typeOf(kind byte) (typ fs.FileMode, known bool) {
	switch kind {
	case unix.DT_REG:
		return 0, true
	case unix.DT_DIR:
		return fs.ModeDir, true
	case unix.DT_LNK:
		return fs.ModeSymlink, true
	case unix.DT_SOCK:
		return fs.ModeSocket, true
	case unix.DT_FIFO:
		return fs.ModeNamedPipe, true
	case unix.DT_BLK:
		return fs.ModeDevice, true
	case unix.DT_CHR:
		return fs.ModeDevice | fs.ModeCharDevice, true
	}
	return 0, false
}

// lstat returns the type of an entry from its inode.
func lstat(dir int, name string) (fs.FileMode, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT); err != nil {
		return 0, err
	}
	typ, known := typeOf(byte(st.Mode & unix.S_IFMT >> 12)) // IFTODT, dirent.h
	if !known {
		return fs.ModeIrregular, nil
	}
	return typ, nil
}

// gone reports whether an error says that the directory no longer exists.
func gone(err error) bool {
	return err == unix.ENOENT || err == unix.ENOTDIR || err == unix.ELOOP
}

// unreadable reports whether an error says that the directory exists but is not
// accessible.
func unreadable(err error) bool { return err == unix.EACCES || err == unix.EPERM }

// grain is the coarsest timestamp unit of a file system whose change times are
// multiples of it, exFAT's. One in ten million other timestamps is also taken
// as coarse.
const grain = 10_000_000

// remembers reports whether the file system of a directory changes its change
// time whenever its entries change: statfs(2), magic.h.
func remembers(fd int) bool {
	var st unix.Statfs_t
	if unix.Fstatfs(fd, &st) != nil {
		return false
	}
	switch uint32(st.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC:
		return true
	}
	return false
}

// coarseClock returns the clock that the kernel stamps inodes with:
// current_time, fs/inode.c.
func coarseClock() timestamp {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now) != nil {
		return timestamp{} // nothing is earlier
	}
	return timestamp{int64(now.Sec), uint32(now.Nsec)}
}

// clock reads the clocks for the memory.
func clock() moment {
	var wall, machine unix.Timespec
	boot := bootID.Get()
	if boot == "" || unix.ClockGettime(unix.CLOCK_REALTIME, &wall) != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &machine) != nil {
		return moment{}
	}
	return moment{wall: wall.Nano(), machine: machine.Nano(), boot: boot}
}

// bootID identifies the current boot, which no process outlives: random(4). It
// is read once, because reading it takes as long as checking ten directories.
var bootID = lazy.Value[string]{Make: func() string {
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // without it no memory is used
	return strings.TrimSpace(string(text))
}}

// recall reads the memory that a scan starts from, or returns nil if there is
// no reliable one.
func recall(path, identity string, now moment) *memory {
	if path == "" || now.boot == "" {
		return nil
	}
	data, err := readOwn(path)
	if err != nil {
		return nil
	}
	m, err := decode(data, identity, now)
	if err != nil {
		return nil
	}
	return m
}

// readOwn reads a regular file that only the caller can write.
func readOwn(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() || info.Mode().Perm()&0o022 != 0 || int(st.Uid) != os.Geteuid() || info.Size() > maxNames {
		return nil, errors.New("not a file of one's own")
	}
	data := make([]byte, info.Size())
	_, err = io.ReadFull(f, data)
	return data, err
}
