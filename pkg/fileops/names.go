package fileops

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

func (t *Tree) mkdir(ctx context.Context, r *Request) (any, error) {
	p, err := t.resolve(cmp.Or(strings.TrimRight(r.Path, "/"), "/"), r.Parents)
	if err != nil {
		return nil, err
	}
	if r.Parents {
		made, err := t.makeAll(p)
		return &DoneResult{Done: made}, err
	}
	return &DoneResult{Done: true}, t.makeOne(p)
}

func (t *Tree) makeOne(p place) error {
	if p.name == "." {
		return syscall.EEXIST
	}
	dir, base, err := p.parent()
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := t.guard(dir, base); err != nil {
		return err
	}
	return unix.Mkdirat(int(dir.Fd()), base, 0o777)
}

// makeAll creates a directory and missing directories above it. It reports whether it has created
// any.
func (t *Tree) makeAll(p place) (bool, error) {
	if info, err := p.root.Stat(p.name); err == nil {
		if !info.IsDir() {
			return false, syscall.ENOTDIR
		}
		return false, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if _, err := t.makeAll(place{p.root, path.Dir(p.name)}); err != nil {
		return false, err
	}
	return true, t.makeOne(p)
}

func (t *Tree) rename(ctx context.Context, r *Request) (any, error) {
	from, err := t.resolve(r.Path, false)
	if err != nil {
		return nil, err
	}
	source, base, err := from.parent()
	if err != nil {
		return nil, err
	}
	defer source.Close()
	to, err := t.resolve(r.To, false)
	if err != nil {
		return nil, at(r, err, r.To)
	}
	target, name, err := to.parent()
	if err != nil {
		return nil, at(r, err, r.To)
	}
	defer target.Close()
	if err := t.guard(target, name); err != nil {
		return nil, at(r, err, r.To)
	}
	if !r.Replace {
		err = renameNew(int(source.Fd()), base, int(target.Fd()), name)
	} else if _, err = entry(target, name); err == nil || errors.Is(err, fs.ErrNotExist) {
		err = unix.Renameat(int(source.Fd()), base, int(target.Fd()), name)
	} else {
		err = at(r, err, r.To)
	}
	if errors.Is(err, syscall.EEXIST) {
		err = at(r, errno(syscall.EEXIST, "it exists", `"replace":true replaces a regular file`), r.To)
	} else if errors.Is(err, syscall.EXDEV) {
		err = errno(syscall.EXDEV, "the two names are on different mounts", "write the file anew and remove the old one")
	}
	if err != nil {
		return nil, err
	}
	return &DoneResult{Done: true}, ignoreUnsupported(target.Sync())
}

// at sets the path that an error concerns, if it is not the request's.
func at(r *Request, err error, path string) error {
	about := *r
	about.Path = path
	return errorOf(&about, err)
}

// renameUnseen renames, and replaces nothing that exists when it begins.
func renameUnseen(from int, name string, to int, base string) error {
	var s unix.Stat_t
	if err := unix.Fstatat(to, base, &s, unix.AT_SYMLINK_NOFOLLOW); !errors.Is(err, unix.ENOENT) {
		if err == nil {
			err = unix.EEXIST
		}
		return err
	}
	return unix.Renameat(from, name, to, base)
}

func (t *Tree) remove(ctx context.Context, r *Request) (any, error) {
	p, err := t.resolve(r.Path, false)
	if err != nil {
		return nil, err
	}
	dir, base, err := p.parent()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if err := unlink(ctx, r, dir, base, r.Path); err != nil {
		return nil, err
	}
	return &DoneResult{Done: true}, nil
}

// unlink removes a name and, if the request is recursive, everything below it. shown is its path in
// the caller's form.
func unlink(ctx context.Context, r *Request, dir *os.File, base, shown string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	here := int(dir.Fd())
	var s unix.Stat_t
	if err := unix.Fstatat(here, base, &s, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return at(r, err, shown)
	}
	flags := 0
	if s.Mode&unix.S_IFMT == unix.S_IFDIR {
		flags = unix.AT_REMOVEDIR
	}
	err := unix.Unlinkat(here, base, flags)
	if err == nil {
		return nil
	}
	if !r.Recursive || flags == 0 || !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, syscall.EEXIST) {
		return at(r, err, shown)
	}
	if err := unlinkBelow(ctx, r, here, base, shown); err != nil {
		return err
	}
	if err := unix.Unlinkat(here, base, flags); err != nil {
		return at(r, err, shown)
	}
	return nil
}

// unlinkBelow removes the content of a directory. It does not enter a directory that becomes a link
// in the meantime.
func unlinkBelow(ctx context.Context, r *Request, dir int, base, shown string) error {
	fd, err := unix.Openat(dir, base, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return at(r, err, shown)
	}
	below := os.NewFile(uintptr(fd), shown)
	defer below.Close()
	names, err := below.Readdirnames(-1)
	if err != nil {
		return at(r, err, shown)
	}
	for _, name := range names {
		if err := unlink(ctx, r, below, name, path.Join(shown, name)); err != nil {
			return err
		}
	}
	return nil
}
