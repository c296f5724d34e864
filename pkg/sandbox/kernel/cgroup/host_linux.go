package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Host is the host's file system. Root is prepended to every path; it is ""
// except in tests.
type Host struct{ Root string }

// ReadFile reads the whole file.
func (h Host) ReadFile(path string) ([]byte, error) { return os.ReadFile(h.Root + path) }

// WriteFile writes text in one write(2), as interface files require. It neither
// creates nor truncates the file. The kernel acts within write(2) and returns
// its verdict as that call's error.
func (h Host) WriteFile(path, text string) error {
	f, err := os.OpenFile(h.Root+path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// Mkdir creates a directory.
func (h Host) Mkdir(path string) error { return os.Mkdir(h.Root+path, 0o755) }

// Rmdir removes an empty directory. A cgroup's interface files do not count.
// [os.Remove] would try unlink(2) first. EBUSY means that it has children or
// live processes.
func (h Host) Rmdir(path string) error {
	if err := unix.Rmdir(h.Root + path); err != nil {
		return &fs.PathError{Op: "rmdir", Path: h.Root + path, Err: err}
	}
	return nil
}

// Directories lists the directories in a directory.
func (h Host) Directories(path string) ([]string, error) {
	entries, err := os.ReadDir(h.Root + path)
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// Owner returns the user ID of the path's owner. In a user namespace, a user
// that is not mapped appears as the overflow id.
func (h Host) Owner(path string) (int, error) {
	info, err := os.Lstat(h.Root + path)
	if err != nil {
		return 0, err
	}
	return int(info.Sys().(*syscall.Stat_t).Uid), nil
}

// Writable asks the kernel with faccessat(2), for the effective user. A
// read-only mount is not writable for root either. On a kernel without
// faccessat2(2) (Linux 5.8), package unix looks at the mode bits instead and
// does not see the mount.
func (h Host) Writable(path string) error {
	return unix.Faccessat(unix.AT_FDCWD, h.Root+path, unix.W_OK, unix.AT_EACCESS)
}

// Attribute reads an extended attribute: getxattr(2). Names that begin with
// "trusted." are seen only with CAP_SYS_ADMIN in the initial user namespace:
// xattr(7).
func (h Host) Attribute(path, name string) string {
	value := make([]byte, 64)
	n, err := unix.Getxattr(h.Root+path, name, value)
	if err != nil {
		return ""
	}
	return string(value[:n])
}

// OpenLocked opens the directory and takes the lock. O_RDONLY and not O_PATH,
// because flock(2) refuses the latter with EBADF.
func (h Host) OpenLocked(path string) (Directory, error) {
	fd, err := unix.Open(h.Root+path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: h.Root + path, Err: err}
	}
	if fd <= 2 { // a standard descriptor was free; clone3(2)'s caller takes 0 for none
		low := fd
		fd, err = unix.FcntlInt(uintptr(low), unix.F_DUPFD_CLOEXEC, 3)
		if unix.Close(low); err != nil {
			return nil, &fs.PathError{Op: "fcntl", Path: h.Root + path, Err: err}
		}
	}
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = errLocked
		}
		return nil, errors.Join(&fs.PathError{Op: "flock", Path: h.Root + path, Err: err}, unix.Close(fd))
	}
	return directory(fd), nil
}

// OpenProcs opens cgroup.procs.
func (h Host) OpenProcs(path string) (*os.File, error) {
	return os.OpenFile(h.Root+path+"/cgroup.procs", os.O_WRONLY, 0)
}

type directory int

func (d directory) FD() int { return int(d) }

func (d directory) Close() error { return unix.Close(int(d)) }

// kill sends SIGKILL. It is no error if the process is already gone.
// cgroup.procs lists a process of another PID namespace as 0, which kill(2)
// would take for the caller's own process group.
func kill(pid string) error {
	n, err := strconv.Atoi(pid)
	if err != nil || n <= 0 {
		return fmt.Errorf("process %q in cgroup.procs", pid)
	}
	if err := unix.Kill(n, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("process %d: %w", n, err)
	}
	return nil
}

// Self returns this process as the caller, with the systemd manager that can
// create a scope for it, if there is one.
func Self() Caller {
	c := Caller{Files: Host{}, PID: os.Getpid(), UID: os.Geteuid()}
	if address := ManagerBus(os.Getenv, c.UID); address != "" {
		c.Scope = Scope(address, c.Files)
	}
	return c
}
