package outfile

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"ethos/pkg/random"
)

// Append opens a file for appending, and creates it with a mode.
func Append(path string, mode fs.FileMode) (*os.File, error) {
	p, err := find(path)
	if err != nil {
		return nil, err
	}
	defer p.close()
	return p.open(unix.O_WRONLY|unix.O_APPEND|unix.O_CREAT, mode)
}

// Replace writes a file such that a reader sees either the old content or the
// new, never a part, and syncs it. It keeps the mode of an existing file, and its
// owner if it may. If the directory cannot be written, it writes into the existing
// file.
func Replace(path string, write func(io.Writer) error) error {
	p, err := find(path)
	if err != nil {
		return err
	}
	defer p.close()
	was, direct, err := p.existing()
	if direct != nil {
		return errors.Join(write(direct), direct.Close())
	}
	if err != nil {
		return err
	}
	return p.replace(was, func(f *os.File) error {
		buf := bufio.NewWriterSize(f, 64<<10)
		return errors.Join(write(buf), buf.Flush(), f.Sync())
	})
}

// Write writes a file by [Replace].
func Write(path, text string) error {
	return Replace(path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// MakeParents makes the directories on the way to a file that do not exist.
func MakeParents(path string) error {
	p, err := locate(path, true)
	if err == nil {
		p.close()
	}
	return err
}

// Check returns the error for a path that no file can be written at: a link, a
// directory, or one whose directory does not exist.
func Check(path string) error {
	p, err := find(path)
	if err != nil {
		return err
	}
	defer p.close()
	var st unix.Stat_t
	if unix.Fstatat(p.dir, p.name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return &fs.PathError{Op: "open", Path: path, Err: unix.EISDIR}
	}
	return nil
}

// Later returns a writer whose text replaces a file when it is closed. Whatever is
// at the name by then is replaced, except for a directory. An older file is
// removed at once. The error says that the file cannot be written. The open of a
// FIFO waits for a reader.
func Later(path string) (io.WriteCloser, error) {
	p, err := find(path)
	if err != nil {
		return nil, err
	}
	defer p.close()
	was, direct, err := p.existing()
	if direct != nil {
		return direct, nil
	}
	if err != nil {
		return nil, err
	}
	l := &late{path: p.String(), was: was}
	switch err := p.replace(was, func(*os.File) error { return nil }); {
	case was != nil && (errors.Is(err, unix.EBUSY) || errors.Is(err, fs.ErrPermission)): // a mount, or another's file in /tmp
		l.fixed = true
		return l, p.overwrite(func(*os.File) error { return nil }, err)
	case err != nil:
		return nil, err
	}
	_ = unix.Unlinkat(p.dir, p.name, 0) // an empty file does no harm
	return l, nil
}

type late struct {
	bytes.Buffer
	path  string
	was   *unix.Stat_t
	fixed bool // nobody can give the name to another file
}

func (l *late) Close() error {
	p, err := locate(l.path, false)
	if err != nil {
		return err
	}
	defer p.close()
	fill := func(f *os.File) error {
		_, err := l.WriteTo(f)
		return err
	}
	if l.fixed {
		return p.overwrite(fill, fs.ErrNotExist)
	}
	return p.replace(l.was, fill)
}

// Directory returns the path without links of a directory that is to be made.
func Directory(path string) (string, error) {
	p, err := locate(filepath.Clean(path), false)
	if err != nil {
		return "", err
	}
	defer p.close()
	return p.String(), nil
}

// find locates a path whose last component is no link, except for those of the
// system.
func find(path string) (*place, error) {
	p, err := locate(path, false)
	if err != nil {
		return nil, err
	}
	target, linked, err := p.link(p.name)
	switch {
	case errors.Is(err, unix.ENOENT):
		return p, nil
	case err == nil && linked && !special(p.path):
		err = &LinkError{p.String(), target}
	case err != nil:
		err = &fs.PathError{Op: "readlink", Path: path, Err: err}
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// existing returns the state of an existing regular file, or opens what is not
// regular.
func (p *place) existing() (was *unix.Stat_t, direct *os.File, err error) {
	if special(p.path) {
		direct, err = p.open(unix.O_WRONLY|unix.O_APPEND, 0)
		return nil, direct, err
	}
	was = &unix.Stat_t{}
	switch err := unix.Fstatat(p.dir, p.name, was, unix.AT_SYMLINK_NOFOLLOW); {
	case errors.Is(err, unix.ENOENT):
		return nil, nil, nil
	case err != nil:
		return nil, nil, &fs.PathError{Op: "stat", Path: p.String(), Err: err}
	case was.Mode&unix.S_IFMT == unix.S_IFREG:
		return was, nil, nil
	}
	direct, err = p.open(unix.O_WRONLY, 0)
	return nil, direct, err
}

// open opens the last component.
func (p *place) open(flags int, mode fs.FileMode) (*os.File, error) {
	if !special(p.path) {
		flags |= unix.O_NOFOLLOW
	}
	var fd int
	err := error(unix.EINTR)
	for errors.Is(err, unix.EINTR) { // the open of a FIFO can be interrupted
		fd, err = unix.Openat(p.dir, p.name, flags|unix.O_CLOEXEC, uint32(mode))
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: p.String(), Err: err}
	}
	return os.NewFile(uintptr(fd), p.String()), nil
}

// replace fills a new file, and renames it to the last component. was is the file
// whose mode and owner it gets, or nil.
func (p *place) replace(was *unix.Stat_t, fill func(*os.File) error) error {
	suffix := make([]byte, 6)
	random.Read(suffix)
	made := place{p.dir, p.path, "." + p.name[:min(len(p.name), 200)] + "." + hex.EncodeToString(suffix)}
	f, err := made.open(unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o666) // subject to the umask
	if errors.Is(err, fs.ErrPermission) {
		return p.overwrite(fill, err)
	}
	if err != nil {
		return err
	}
	defer unix.Unlinkat(p.dir, made.name, 0) // fails if it was renamed
	if was != nil && (f.Chown(int(was.Uid), int(was.Gid)) == nil || int(was.Uid) == os.Geteuid()) {
		_ = f.Chmod(fs.FileMode(was.Mode & 0o777))
	}
	if err := errors.Join(fill(f), f.Close()); err != nil {
		return err
	}
	if err := unix.Renameat(p.dir, made.name, p.dir, p.name); err != nil {
		return &fs.PathError{Op: "rename", Path: p.String(), Err: err}
	}
	return nil
}

// overwrite fills an existing file. why says why there is no new one.
func (p *place) overwrite(fill func(*os.File) error, why error) error {
	f, err := p.open(unix.O_WRONLY|unix.O_TRUNC|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return why
	}
	if err != nil {
		return err
	}
	return errors.Join(fill(f), f.Close())
}
