//go:build amd64 || arm64

package faultinject

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/seccomp"
)

// Call is one system call of a run: the n-th of its kind that a process of this
// role makes.
type Call struct {
	Role string
	Nr   int32
	N    int
}

// String names the call as strace does.
func (c Call) String() string { return fmt.Sprintf("%s, %s #%d", c.Role, CallName(c.Nr), c.N) }

// CallName is the name of a system call.
func CallName(nr int32) string {
	name := ""
	if arch, err := seccomp.Native(); err == nil {
		name = arch.NameOf(uint32(nr))
	}
	if name == "" {
		return "system call " + strconv.Itoa(int(nr))
	}
	return name
}

// Notification is struct seccomp_notif of linux/seccomp.h: a call that a thread
// is about to make.
type Notification struct {
	id         uint64
	TID, flags uint32
	Nr         int32
	arch       uint32
	ip         uint64
	Args       [6]uint64
}

// Path returns the path that the call is about, or "".
func (n *Notification) Path() string {
	at, dir := n.Args[1], fmt.Sprintf("/proc/%d/fd/%d", n.TID, int32(n.Args[0]))
	switch n.Nr {
	case unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_MKDIRAT, unix.SYS_UNLINKAT, unix.SYS_NEWFSTATAT, unix.SYS_READLINKAT, unix.SYS_MKNODAT, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_RENAMEAT2:
	case unix.SYS_READ, unix.SYS_WRITE, unix.SYS_CLOSE, unix.SYS_FCNTL, unix.SYS_FSTAT, unix.SYS_FLOCK, unix.SYS_FTRUNCATE, unix.SYS_LSEEK, unix.SYS_GETDENTS64, unix.SYS_FCHMOD:
		to, _ := os.Readlink(dir)
		return to
	case unix.SYS_EXECVE:
		at, dir = n.Args[0], ""
	default:
		return ""
	}
	base, _ := os.Readlink(dir)
	name, _, _ := bytes.Cut(n.memory(at, 256), []byte{0})
	if len(name) > 0 && name[0] == '/' {
		return string(name)
	}
	return base + "/" + string(name)
}

// memory reads at most size bytes of the caller's memory.
func (n *Notification) memory(at uint64, size int) []byte {
	file, err := os.Open(fmt.Sprintf("/proc/%d/mem", n.TID))
	if err != nil {
		return nil
	}
	defer file.Close()
	text := make([]byte, size)
	length, _ := file.ReadAt(text, int64(at))
	return text[:length]
}

// OfRuntime reports whether the call of a Go program is one that the Go runtime
// makes for itself, or the C library for it, whenever it likes.
func (n *Notification) OfRuntime() bool {
	const cloneThread = 0x10000
	switch n.Nr {
	case unix.SYS_RT_SIGPROCMASK, unix.SYS_SCHED_GETAFFINITY, unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_MPROTECT, unix.SYS_MMAP:
		return true
	case unix.SYS_CLONE:
		return n.Args[0]&cloneThread != 0
	case unix.SYS_CLONE3: // the flags come first in struct clone_args
		flags := n.memory(n.Args[0], 8)
		return len(flags) == 8 && binary.NativeEndian.Uint64(flags)&cloneThread != 0
	case unix.SYS_PRCTL:
		return n.Args[0] == unix.PR_SET_VMA
	case unix.SYS_READ, unix.SYS_WRITE:
		to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", n.TID, n.Args[0]))
		return err == nil && to == "anon_inode:[eventfd]"
	}
	return false
}
