package fileops

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"

	"golang.org/x/sys/unix"
)

// WriteResult is the result of write and edit.
type WriteResult struct {
	Size     int64 `json:"size"`    // new size of the file, in bytes
	Created  bool  `json:"created"` // the file did not exist
	Replaced int   `json:"replaced,omitempty"`
}

// DoneResult is the result of mkdir, rename, remove and cancel.
type DoneResult struct {
	Done bool `json:"done"` // mkdir: false if the directory existed; cancel: if no such request is running
}

// alone returns an operation that waits until this request may change files.
func (t *Tree) alone(do handler) handler {
	return func(ctx context.Context, r *Request) (any, error) {
		t.changing.Lock()
		defer t.changing.Unlock()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return do(ctx, r)
	}
}

// write creates or replaces a file.
func (t *Tree) write(ctx context.Context, r *Request) (any, error) {
	p, err := t.resolve(r.Path, true)
	if err != nil {
		return nil, err
	}
	if r.Parents {
		if _, err := t.makeAll(place{p.root, path.Dir(p.name)}); err != nil {
			return nil, err
		}
	}
	if p.name == "." {
		return nil, syscall.EISDIR
	}
	dir, base, err := p.parent()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	old, err := entry(dir, base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
		if err := t.guard(dir, base); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case r.Exclusive:
		return nil, errno(syscall.EEXIST, "it exists", `"exclusive" is for new files`)
	}
	content, err := r.content()
	if err != nil {
		return nil, err
	}
	if err := replace(ctx, dir, base, old, content); err != nil {
		return nil, err
	}
	return &WriteResult{Size: int64(len(content)), Created: old == nil}, nil
}

// edit replaces text in a file.
func (t *Tree) edit(ctx context.Context, r *Request) (any, error) {
	p, err := t.resolve(r.Path, true)
	if err != nil {
		return nil, err
	}
	f, _, err := p.regular()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var old unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &old); err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(f, MaxEdit+1))
	if err != nil {
		return nil, err
	}
	if len(content) > MaxEdit {
		return nil, errno(syscall.EFBIG, fmt.Sprintf("the file is longer than %d bytes", MaxEdit), "")
	}
	n := bytes.Count(content, []byte(r.Old))
	switch {
	case n == 0:
		return nil, failure(CodeNoMatch, "the text of old is not in the file", "read the file; white space and line ends count")
	case n > 1 && !r.All:
		return nil, failure(CodeManyMatches, fmt.Sprintf("the text of old is in the file %d times", n), `give more of what is around it, or "all":true`)
	case len(content)+n*(len(*r.New)-len(r.Old)) > MaxEdit:
		return nil, errno(syscall.EFBIG, fmt.Sprintf("the file would be longer than %d bytes", MaxEdit), "")
	}
	content = bytes.ReplaceAll(content, []byte(r.Old), []byte(*r.New))
	dir, base, err := p.parent()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if now, err := entry(dir, base); err != nil || !same(now, &old) {
		return nil, errno(syscall.ESTALE, "the file changed meanwhile", "read it again")
	}
	if err := replace(ctx, dir, base, &old, content); err != nil {
		return nil, err
	}
	return &WriteResult{Size: int64(len(content)), Replaced: n}, nil
}

func same(a, b *unix.Stat_t) bool {
	return a.Dev == b.Dev && a.Ino == b.Ino && a.Size == b.Size && a.Mtim == b.Mtim
}

// entry returns the status of the file with a name in a directory. Anything but a regular file is
// an error.
func entry(dir *os.File, base string) (*unix.Stat_t, error) {
	var s unix.Stat_t
	if err := unix.Fstatat(int(dir.Fd()), base, &s, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, err
	}
	switch s.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return &s, nil
	case unix.S_IFDIR:
		return &s, errno(syscall.EISDIR, "it is a directory", "")
	}
	return &s, errno(syscall.EINVAL, "it is no regular file", "only regular files are read and written")
}

// replace writes content to a temporary file in the same directory, syncs it and renames it to
// base. old is the file that it replaces, whose mode and owner are kept. If old is nil, base must
// not exist. The caller must have permission to write to the old file, although rename does not
// require it.
func replace(ctx context.Context, dir *os.File, base string, old *unix.Stat_t, content []byte) (err error) {
	at := int(dir.Fd())
	mode := uint32(0o666)
	if old != nil {
		if err := unix.Faccessat(at, base, unix.W_OK, 0); err != nil {
			return err
		}
		mode = 0o600
	}
	name := ".ethos-write-" + rand.Text()
	fd, err := unix.Openat(at, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), name)
	defer func() {
		f.Close()
		if err != nil {
			unix.Unlinkat(at, name, 0)
		}
	}()
	if _, err := f.Write(content); err != nil {
		return err
	}
	if old != nil {
		if err := keep(fd, old); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if old == nil {
		err = renameNew(at, name, at, base)
	} else {
		err = unix.Renameat(at, name, at, base)
	}
	if err != nil {
		return err
	}
	return ignoreUnsupported(dir.Sync())
}

// keep gives the new file the owner and the permissions of the old one. Set-ID bits are cleared, as
// by a write to the file: write(2).
func keep(fd int, old *unix.Stat_t) error {
	var now unix.Stat_t
	if err := unix.Fstat(fd, &now); err != nil {
		return err
	}
	if now.Uid != old.Uid || now.Gid != old.Gid {
		if err := unix.Fchown(fd, int(old.Uid), int(old.Gid)); err != nil {
			return errno(syscall.EPERM, fmt.Sprintf("the file is of user %d and group %d, which cannot be kept: %v", old.Uid, old.Gid, err), "a replacement would be of another owner; its owner writes it")
		}
	}
	return unix.Fchmod(fd, uint32(old.Mode)&0o777)
}

// ignoreUnsupported ignores the error of file systems on which a directory cannot be synced.
func ignoreUnsupported(err error) error {
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
