package view

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/lazy"
	"ethos/pkg/sandbox/kernel/mount"
)

// identify returns a directory with its device and inode numbers.
func identify(path string) (Root, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return Root{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	return Root{Path: path, Dev: uint64(st.Dev), Ino: st.Ino}, remote(path)
}

// remotes lists file systems whose change times come from another machine's or
// program's clock, by the magic numbers of statfs(2).
var remotes = lazy.Value[map[int64]string]{Make: func() map[int64]string {
	return map[int64]string{
		unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB", unix.V9FS_MAGIC: "9p", unix.FUSE_SUPER_MAGIC: "FUSE",
		unix.AFS_SUPER_MAGIC: "AFS", unix.CEPH_SUPER_MAGIC: "Ceph", unix.CODA_SUPER_MAGIC: "Coda",
	}
}}

func remote(path string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return &fs.PathError{Op: "statfs", Path: path, Err: err}
	}
	if name, is := remotes.Get()[int64(st.Type)]; is {
		return fmt.Errorf("%s is on %s, whose change times do not show what others change meanwhile", path, name)
	}
	return nil
}

// layers finds a directory for the layers of a view: the view's own directory,
// or else a directory for temporary files that survives a reboot.
func layers(own string, p Place) (dir string, err error) {
	fault := usable(own, p)
	if fault == nil {
		return own, nil
	}
	for _, base := range []string{"/var/tmp", p.Getenv("TMPDIR"), "/tmp"} {
		if !filepath.IsAbs(base) {
			continue
		}
		if dir, err = os.MkdirTemp(base, "ethos-view-"); err != nil {
			continue
		}
		if err = usable(dir, p); err == nil {
			return dir, nil
		}
		os.Remove(dir)
	}
	return "", fmt.Errorf("%w: %w", ErrNoUpper, fault)
}

// usable says why a directory cannot hold layers. overlayfs requires that the
// upper layer supports user extended attributes, is not itself an overlay, and
// does not lie in a lower layer.
func usable(dir string, p Place) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(p.Roots, func(root string) bool { return mount.Within(real, root) }) {
		return fmt.Errorf("%s lies in a directory that the command writes to", dir)
	}
	if p.Hidden != nil && !p.Hidden(real) {
		return fmt.Errorf("%s is visible to the command", dir)
	}
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return &fs.PathError{Op: "statfs", Path: dir, Err: err}
	}
	if int64(st.Type) == unix.OVERLAYFS_SUPER_MAGIC {
		return fmt.Errorf("%s is on overlayfs, which cannot carry an upper layer", dir)
	}
	if err := remote(dir); err != nil {
		return err
	}
	if err := unix.Setxattr(dir, "user.ethos.view", []byte("1"), 0); err != nil {
		return fmt.Errorf("%s: user extended attributes: %w", dir, err)
	}
	return unix.Removexattr(dir, "user.ethos.view")
}

// tick waits until the clock of change times has advanced, and returns its
// value. This is the kernel's coarse clock, which advances every few
// milliseconds.
func tick(dir string) (now [2]int64, err error) {
	name := filepath.Join(dir, "clock")
	defer os.Remove(name)
	var first *stamp
	for range 1000 {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			return now, err
		}
		if err := unix.Utimes(name, nil); err != nil {
			return now, &fs.PathError{Op: "utimes", Path: name, Err: err}
		}
		st, err := stampOf(unix.AT_FDCWD, name)
		switch {
		case err != nil:
			return now, err
		case first == nil:
			first = &st
		case st.Ctime != first.Ctime:
			return st.Ctime, nil
		}
		time.Sleep(time.Millisecond)
	}
	return now, errors.New("the clock of the file system stands still")
}

// steady returns the clock of change times minus the clock that nobody can set.
// The two are read one after the other, and the program may be delayed in
// between, so the closest of several readings counts.
func steady() (offset int64) {
	closest := int64(math.MaxInt64)
	for range 8 {
		var before, wall, after unix.Timespec
		if unix.ClockGettime(unix.CLOCK_BOOTTIME, &before) != nil || unix.ClockGettime(unix.CLOCK_REALTIME, &wall) != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &after) != nil {
			return 0
		}
		if apart := after.Nano() - before.Nano(); apart < closest {
			closest, offset = apart, wall.Nano()-before.Nano()
		}
	}
	return offset
}

func bootID() string {
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text))
}
