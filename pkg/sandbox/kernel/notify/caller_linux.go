package notify

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// caller is the thread that waits for an answer.
type caller struct {
	id    uint64
	tid   int
	pidfd int
	call  invocation
}

// caller returns the thread of a request. The caller must close pidfd.
//
// The number of a thread can be reused as soon as the thread is gone, and a
// signal ends the wait. So everything that is found by number is opened first,
// and only then does SECCOMP_IOCTL_NOTIF_ID_VALID say whether the thread was
// still waiting: seccomp_unotify(2). A pidfd of a thread needs PIDFD_THREAD,
// Linux 6.9; before, that of its process is used, whose descriptors a thread
// shares unless it was cloned without CLONE_FILES.
func (j *Judge) caller(r *request) (caller, error) {
	c := caller{id: r.id, tid: int(r.pid), pidfd: -1, call: invocation{r.pid, r.ip, [3]uint64(r.args[:3])}}
	if c.tid == 0 {
		return c, unix.ESRCH
	}
	var err error
	if j.threads {
		c.pidfd, err = unix.PidfdOpen(c.tid, pidfdThread)
	} else if c.pidfd, err = unix.PidfdOpen(c.tid, 0); err != nil { // it is not the main thread of its process
		var leader int
		if leader, err = threadGroup(c.tid); err == nil {
			c.pidfd, err = unix.PidfdOpen(leader, 0)
		}
	}
	if err != nil {
		return c, unix.ESRCH
	}
	if !j.valid(c.id) { // the thread ID may have been reused
		unix.Close(c.pidfd)
		return c, unix.ESRCH
	}
	return c, nil
}

// threadGroup returns the process of a thread: Tgid in proc_pid_status(5).
func threadGroup(tid int) (int, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(tid) + "/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "Tgid:"); ok {
			return strconv.Atoi(strings.TrimSpace(value))
		}
	}
	return 0, unix.ESRCH
}

// take duplicates one of the caller's descriptors: pidfd_getfd(2), which needs
// the right to trace the process (PTRACE_MODE_ATTACH_REALCREDS), as Yama
// restricts it. The duplicate refers to the same open file, whatever the caller
// puts at that number later. It exists since Linux 5.6. EBADF is the caller's
// own error, ESRCH means that the process is gone, EPERM that it may not be
// traced.
func (c caller) take(fd int) (int, error) {
	if fd < 0 {
		return -1, unix.EBADF
	}
	return unix.PidfdGetfd(c.pidfd, fd, 0)
}

// address copies an address from the caller's memory: process_vm_readv(2). The
// judge decides on this copy and connects by it. The caller may change its
// memory at any time, so a call that the kernel continued would read another
// address than the one that was judged: "Design goals; use of
// SECCOMP_USER_NOTIF_FLAG_CONTINUE" in seccomp_unotify(2). A partial read is
// EFAULT, as in the kernel: process_vm_readv(2) returns the number of bytes
// before the first page that is not mapped. The caller must check the request
// with valid before it uses the bytes.
func (c caller) address(at uint64, length int32) ([]byte, error) {
	if length < 0 || length > storageSize { // move_addr_to_kernel in net/socket.c
		return nil, unix.EINVAL
	}
	if length == 0 {
		return nil, nil
	}
	b := make([]byte, length)
	into := unix.Iovec{Base: &b[0]}
	into.SetLen(int(length))
	n, err := unix.ProcessVMReadv(c.tid, []unix.Iovec{into}, []unix.RemoteIovec{{Base: uintptr(at), Len: int(length)}}, 0)
	if err != nil {
		return nil, err
	}
	if n != int(length) {
		return nil, unix.EFAULT
	}
	return b, nil
}

// proc opens an entry of the caller's directory in this process's /proc,
// following a magic link. proc(5) asks for PTRACE_MODE_READ_FSCREDS: ptrace(2).
func (c caller) proc(name string) (int, error) {
	return unix.Open(fmt.Sprintf("/proc/%d/%s", c.tid, name), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
}

// resolver resolves the caller's paths to files.
type resolver struct {
	caller
	root int // the command's root; paths of a process with another root, by chroot(2) or its own mounts, may resolve differently, to files that are judged as well
}

// open opens the file at a path of the caller, with O_PATH: nothing is opened
// for reading, so no device or pipe notices. The lookup stays below the
// command's root (RESOLVE_IN_ROOT, openat2(2)), so no link leads to a file of
// the host. Links of proc(5) that mean the process itself would mean the judge
// here; [own] takes them apart.
//
// The errors are those of open(2) and reach the caller: ENOENT, ENOTDIR, ELOOP,
// EACCES. A relative path begins at the caller's working directory, which is
// the thread's own if it was cloned without CLONE_FS.
func (r resolver) open(path string) (int, error) {
	rest, magic := own(path)
	switch {
	case magic == "root":
		return r.below(r.root, "/"+rest, unix.RESOLVE_IN_ROOT)
	case strings.HasPrefix(magic, "fd/"):
		return r.throughDescriptor(magic[len("fd/"):], rest)
	case magic == "" && strings.HasPrefix(path, "/"):
		return r.below(r.root, path, unix.RESOLVE_IN_ROOT)
	}
	if magic == "" {
		rest = path
	}
	dir, err := r.proc("cwd")
	if err != nil {
		return -1, err
	}
	defer unix.Close(dir)
	return r.fromDirectory(dir, rest)
}

// own splits a magic link of the process itself from the start of a path:
// "cwd", "root" or "fd/N", and the rest.
func own(path string) (rest, magic string) {
	for _, prefix := range []string{"/proc/self/", "/proc/thread-self/", "/dev/"} {
		after, ok := strings.CutPrefix(path, prefix)
		if !ok {
			continue
		}
		name, rest, _ := strings.Cut(after, "/")
		switch {
		case name == "fd":
			number, rest, _ := strings.Cut(rest, "/")
			return strings.TrimLeft(rest, "/"), "fd/" + number
		case prefix != "/dev/" && (name == "cwd" || name == "root"):
			return strings.TrimLeft(rest, "/"), name
		}
	}
	return path, ""
}

// throughDescriptor opens a path that begins at one of the caller's
// descriptors, or is one. An entry of /proc/PID/fd that does not exist is
// ENOENT, not EBADF. A path that leaves the directory is refused with EXDEV.
func (r resolver) throughDescriptor(number, rest string) (int, error) {
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil {
		return -1, unix.ENOENT
	}
	fd, err := r.take(int(n))
	if err != nil {
		return -1, unix.ENOENT
	}
	if rest == "" {
		return fd, nil
	}
	defer unix.Close(fd)
	return r.below(fd, rest, unix.RESOLVE_BENEATH)
}

// fromDirectory opens a relative path. If the path leaves the directory by ".."
// or a link, it is resolved below the root, provided that the directory has a
// name there. RESOLVE_BENEATH fails with EXDEV for such a path. The name of
// proc(5) is only a hint, as the directory may have been moved since: it counts
// if it leads to the same inode.
func (r resolver) fromDirectory(dir int, path string) (int, error) {
	fd, err := r.below(dir, path, unix.RESOLVE_BENEATH)
	if !errors.Is(err, unix.EXDEV) {
		return fd, err
	}
	name, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", r.tid))
	if err != nil || !strings.HasPrefix(name, "/") {
		return -1, unix.EACCES
	}
	named, err := r.below(r.root, name, unix.RESOLVE_IN_ROOT)
	if err != nil {
		return -1, unix.EACCES
	}
	defer unix.Close(named)
	was, err1 := identify(dir)
	is, err2 := identify(named)
	if err1 != nil || err2 != nil || was != is {
		return -1, unix.EACCES
	}
	return r.below(r.root, name+"/"+path, unix.RESOLVE_IN_ROOT)
}

// below calls openat2(2), which returns EAGAIN if something is renamed while
// ".." is followed. The command can provoke that on purpose, so the attempts
// are bounded; the last EAGAIN reaches the caller.
func (r resolver) below(dir int, path string, how uint64) (fd int, err error) {
	for range 64 {
		fd, err = unix.Openat2(dir, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: how | unix.RESOLVE_NO_MAGICLINKS})
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			break
		}
	}
	return fd, err
}
