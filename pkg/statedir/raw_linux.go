package statedir

import (
	"path"
	"syscall"
	"unsafe"
)

// PathBuffer is the memory in which [PathBuffer.Sockets] builds paths.
type PathBuffer [syscall.PathMax]byte

// What [PathBuffer.Sockets] returns instead of a descriptor.
const (
	None    = -1 // the folder does not exist, or may not be used
	Unknown = -2 // only [Sockets] can determine it
)

// Sockets opens the folder of [Sockets] with an index, 0 or 1, with O_PATH. It
// does not create it.
//
// It can be called before the Go runtime has started: it allocates nothing,
// needs no package variable, and makes system calls that the scheduler does not
// see.
func (b *PathBuffer) Sockets(getenv func(string) string, i int) (fd int) {
	if i == 0 {
		base := getenv(runtimeVariable)
		if !path.IsAbs(base) {
			return None
		}
		return b.open(base, "", Name, privateMode)
	}
	base, below, ok := place(getenv)
	if !ok {
		return None
	}
	return b.open(base, below, sessions, 0)
}

// open opens base/below/last. The last two directories must be trusted, and
// have a mode unless it is 0.
func (b *PathBuffer) open(base, below, last string, mode uint32) (fd int) {
	if len(base)+len(below)+len(last)+len("//\x00") > len(b) || !lexical(base) {
		return Unknown
	}
	n := copy(b[:], base)
	if below != "" {
		b[n] = '/'
		n += 1 + copy(b[n+1:], below)
	}
	b[n] = 0
	if fd = b.trusted(mode); fd < 0 {
		return fd
	}
	syscall.RawSyscall(syscall.SYS_CLOSE, uintptr(fd), 0, 0)
	b[n] = '/'
	n += 1 + copy(b[n+1:], last)
	b[n] = 0
	return b.trusted(mode)
}

// trusted opens the directory whose absolute path, up to a NUL, is in b. See
// [Check].
func (b *PathBuffer) trusted(mode uint32) (fd int) {
	const path = 0x200000 // O_PATH
	const flags = path | syscall.O_DIRECTORY | syscall.O_NOFOLLOW | syscall.O_CLOEXEC
	opened, _, errno := syscall.RawSyscall6(syscall.SYS_OPENAT, 0, uintptr(unsafe.Pointer(b)), flags, 0, 0, 0)
	if errno != 0 {
		return None
	}
	var st syscall.Stat_t
	_, _, errno = syscall.RawSyscall(sysFstat, opened, uintptr(unsafe.Pointer(&st)), 0)
	if errno != 0 || defectOf(&st) != 0 || mode != 0 && st.Mode&0o777 != mode {
		syscall.RawSyscall(syscall.SYS_CLOSE, opened, 0, 0)
		return None
	}
	return int(opened)
}

// lexical reports whether a path means the same with and without [path.Clean].
// A slash at its end would have the kernel follow a symbolic link.
func lexical(name string) bool {
	if name[len(name)-1] == '/' {
		return false
	}
	for at := 0; at < len(name); {
		end := at
		for end < len(name) && name[end] != '/' {
			end++
		}
		if part := name[at:end]; part == "." || part == ".." {
			return false
		}
		at = end + 1
	}
	return true
}
