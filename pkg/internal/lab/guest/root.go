//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const newRoot = "/newroot"

// moveRoot mounts the initial RAM file system again on itself and makes that the root, because
// pivot_root(2) fails for a process whose root is the first mount, rootfs.
func moveRoot() error {
	if err := os.Mkdir(newRoot, 0o755); err != nil {
		return err
	}
	if err := unix.Mount("/", newRoot, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount the root again: %w", err)
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

// mountAll mounts the usual file systems.
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
