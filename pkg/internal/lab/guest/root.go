//go:build linux

package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

const newRoot = "/newroot"

// moveRoot copies the initial RAM file system to a tmpfs and makes that the root: pivot_root(2) refuses a process whose root is rootfs.
func moveRoot() error {
	if err := os.Mkdir(newRoot, 0o755); err != nil {
		return err
	}
	if err := unix.Mount("root", newRoot, "tmpfs", 0, "mode=755,size=90%"); err != nil {
		return fmt.Errorf("mount the new root: %w", err)
	}
	if err := filepath.WalkDir("/", copyEntry); err != nil {
		return fmt.Errorf("copy the root: %w", err)
	}
	if err := os.Chdir(newRoot); err != nil {
		return err
	}
	if err := unix.Mount(".", "/", "", unix.MS_MOVE, ""); err != nil {
		return fmt.Errorf("move the root: %w", err)
	}
	if err := unix.Chroot("."); err != nil {
		return err
	}
	return os.Chdir("/")
}

// copyEntry copies one file and frees the original's memory.
func copyEntry(name string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if name == newRoot {
		return fs.SkipDir
	}
	info, err := d.Info()
	if err != nil {
		return err
	}
	to := filepath.Join(newRoot, name)
	switch info.Mode().Type() {
	case fs.ModeDir:
		if name == "/" {
			return nil
		}
		return firstError(os.Mkdir(to, 0o700), own(to, info))
	case fs.ModeSymlink:
		target, err := os.Readlink(name)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case 0:
		return firstError(copyFile(to, name), own(to, info), os.Remove(name))
	}
	return nil
}

// own gives the copy the original's owner and mode.
func own(to string, info fs.FileInfo) error {
	stat := info.Sys().(*syscall.Stat_t)
	return firstError(os.Chown(to, int(stat.Uid), int(stat.Gid)), os.Chmod(to, info.Mode().Perm()))
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

// mountAll mounts what a Linux system has.
func mountAll() error {
	unix.Umask(0)
	defer unix.Umask(0o022)
	for _, m := range []struct{ kind, target, data string }{
		{"proc", "/proc", ""},
		{"sysfs", "/sys", ""},
		{"devtmpfs", "/dev", ""},
		{"devpts", "/dev/pts", "mode=620,ptmxmode=666"},
		{"tmpfs", "/dev/shm", "mode=1777"},
		{"tmpfs", "/tmp", "mode=1777"},
		{"tmpfs", "/run", "mode=755"},
		{"cgroup2", "/sys/fs/cgroup", ""},
		{"securityfs", "/sys/kernel/security", ""},
	} {
		if err := os.MkdirAll(m.target, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, m.target, m.kind, unix.MS_NOSUID, m.data); err != nil {
			return fmt.Errorf("mount %s on %s: %w", m.kind, m.target, err)
		}
	}
	for link, target := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(target, filepath.Join("/dev", link)); err != nil {
			return err
		}
	}
	return nil
}
