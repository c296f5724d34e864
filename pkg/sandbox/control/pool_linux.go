package control

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/steps"
)

// poolName is the directory of placeholders that are kept between runs. Renaming is many
// times faster than creating a directory, which is slower still among recently deleted
// inodes: recently_deleted in fs/ext4/ialloc.c.
const poolName = "pool"

func openPool(root *os.Root) (*os.File, error) {
	if err := removeUnlike(root, poolName, os.ModeDir); err != nil {
		return nil, err
	}
	if err := root.Mkdir(poolName, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	return root.OpenFile(poolName, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
}

// poolEntry returns the name of a path's placeholder in the pool, or "" if the path is too
// long for a name: NAME_MAX in linux/limits.h.
func poolEntry(path string) string {
	if name := strings.ReplaceAll(path, "/", "%"); len(name) <= 255 {
		return name
	}
	return ""
}

// takeFromPool moves a placeholder out of the pool. If that fails for any reason, taken
// stays empty and a new placeholder is made. The pool must be on the same mount in init's
// namespace, because rename(2) does not cross mounts.
func (i *placeholder) takeFromPool(pool, dir, taken steps.Slot) steps.Step {
	s := step("placeholders", "renameat2", unix.SYS_RENAMEAT2, i.Path, steps.From(pool), steps.Str(i.entry), steps.From(dir), steps.Str(filepath.Base(i.Path)), steps.Int(unix.RENAME_NOREPLACE))
	s.Save = taken
	s.Ignore = []syscall.Errno{syscall.ENOENT, syscall.EEXIST, syscall.EXDEV, syscall.EINVAL, syscall.ENOSYS, syscall.EPERM, syscall.EACCES}
	return s
}

// retire moves one placeholder into the pool, or removes it, if it is still one. It returns
// false if the placeholder may still exist; it then stays in the journal.
func (i *placeholder) retire(pool *os.File) bool {
	dir, err := openDirectory(filepath.Dir(i.Path))
	if err != nil {
		return errors.Is(err, syscall.ENOENT)
	}
	defer dir.Close()
	at, name := int(dir.Fd()), filepath.Base(i.Path)
	var st unix.Stat_t
	if err := unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return vanished(err)
	}
	if !i.plain(st.Mode, st.Size) {
		return true
	}
	if moved, kept := i.keep(pool, at, name); moved {
		return kept
	}
	if i.Dir {
		return vanished(unix.Unlinkat(at, name, unix.AT_REMOVEDIR))
	}
	return vanished(unix.Unlinkat(at, name, 0))
}

// vanished reports whether the result of a removal or a lookup means that there is no
// placeholder any more. A directory that is not empty has become something else.
func vanished(err error) bool {
	return err == nil || errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST)
}

// plain reports whether the file is as the run created it, or is a directory.
func (i *placeholder) plain(mode uint32, size int64) bool {
	if i.Dir {
		return mode&syscall.S_IFMT == syscall.S_IFDIR
	}
	return mode&syscall.S_IFMT == syscall.S_IFREG && (size == int64(len(i.Content)) || size == 0)
}

// keep moves the placeholder into the pool. If someone may have started to use it in the
// meantime, it is moved back and not kept.
func (i *placeholder) keep(pool *os.File, at int, name string) (moved, kept bool) {
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil || i.entry == "" {
		return false, false
	}
	defer unix.Close(fd)
	if !sameOwner(fd, int(pool.Fd())) || !i.meansNothing(fd) || unix.Renameat2(at, name, int(pool.Fd()), i.entry, unix.RENAME_NOREPLACE) != nil {
		return false, false
	}
	var there, opened unix.Stat_t
	same := unix.Fstatat(int(pool.Fd()), i.entry, &there, unix.AT_SYMLINK_NOFOLLOW) == nil && unix.Fstat(fd, &opened) == nil && there.Ino == opened.Ino && there.Dev == opened.Dev
	if same && i.meansNothing(fd) {
		return true, true
	}
	unix.Renameat2(int(pool.Fd()), i.entry, at, name, unix.RENAME_NOREPLACE)
	return true, false
}

// sameOwner reports whether two open files belong to one user. What root has made in a work
// space of somebody else, its owner could not use.
func sameOwner(a, b int) bool {
	var x, y unix.Stat_t
	return unix.Fstat(a, &x) == nil && unix.Fstat(b, &y) == nil && x.Uid == y.Uid
}

// meansNothing reports whether an open file or directory is as a run creates it: empty, or
// with the content of the placeholder.
func (i *placeholder) meansNothing(fd int) bool {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || !i.plain(st.Mode, st.Size) {
		return false
	}
	if !i.Dir {
		return st.Size == int64(len(i.Content))
	}
	var entries [1024]byte
	if _, err := unix.Seek(fd, 0, io.SeekStart); err != nil {
		return false
	}
	n, err := unix.Getdents(fd, entries[:])
	_, others, _ := unix.ParseDirent(entries[:max(n, 0)], 1, nil) // except . and ..
	return err == nil && others == 0
}
