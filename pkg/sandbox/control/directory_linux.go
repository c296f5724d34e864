package control

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/statedir"
	"io/fs"
	"syscall"
)

// openDirectory opens a directory by a path without symbolic links, as those in a plan are.
// If a component has become a link since, it fails with ELOOP: the work space may change at
// any time, and this process writes and removes files there with the caller's rights.
// openat2(2), Linux 5.6.
func openDirectory(path string) (*os.File, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	for {
		fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
		if err == unix.EINTR || err == unix.EAGAIN { // EAGAIN: something was renamed meanwhile
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "openat2", Path: path, Err: err}
		}
		return os.NewFile(uintptr(fd), path), nil
	}
}

// openRoot is os.OpenRoot for a path without links.
func openRoot(path string) (*os.Root, error) {
	dir, err := openDirectory(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return rootAt(dir)
}

// rootAt is os.OpenRoot for an open directory, wherever it has been moved.
func rootAt(dir *os.File) (*os.Root, error) {
	return os.OpenRoot("/proc/self/fd/" + strconv.Itoa(int(dir.Fd())))
}

// openOwn creates ethos's directory, hidden from git, and opens it so that no name in it
// leads out.
func openOwn(p *plan.Plan, own string) (*os.Root, error) {
	above, err := openRoot(filepath.Dir(own))
	if err != nil {
		return nil, err
	}
	defer above.Close()
	name := filepath.Base(own)
	info, err := above.Lstat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if err := statedir.MakeDir(p.Getenv, above, name); err != nil {
			return nil, fmt.Errorf("make %s: %w", own, err)
		}
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is not a directory", name)
	}
	return above.OpenRoot(name)
}

// makeKept creates ethos's directory in a work space where a store of traces will be kept.
// It is not a placeholder, because other runs would remove that.
func makeKept(p *plan.Plan) error {
	for _, g := range p.Placeholders {
		if g.Path != filepath.Join(p.Workspace, plan.EthosDir) {
			continue
		}
		root, err := openOwn(p, g.Path)
		if err != nil {
			return err
		}
		root.Close()
	}
	return nil
}

// removeUnlike removes what has a name in ethos's directory and is not what is wanted: a
// directory or, if want is 0, a regular file with one link. A link, a FIFO, a device or a
// hard link of another file may come from a clone or an earlier command. An existing
// directory is never removed; it is an error if a file is wanted.
func removeUnlike(root *os.Root, name string, want fs.FileMode) error {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if info.Mode().Type() == want && (info.IsDir() || ok && st.Nlink == 1) {
		return nil
	}
	if info.IsDir() {
		return &fs.PathError{Op: "open", Path: name, Err: syscall.EISDIR}
	}
	return root.Remove(name)
}

// openDir is [openDir] for init, which may have the filter that denies openat2(2). Its root
// is then as it was verified.
func (j *Job) openDir(path string, slot steps.Slot) steps.Step {
	s := openDir(path, slot)
	if j.Wrapped {
		s = step("placeholders", "openat", unix.SYS_OPENAT, path, steps.Int(unix.AT_FDCWD), steps.Str(path), steps.Int(unix.O_PATH|unix.O_CLOEXEC|unix.O_DIRECTORY|unix.O_NOFOLLOW))
		s.Save = slot
	}
	return s
}

// openDir makes a step in which init opens a directory by a path without links.
func openDir(path string, slot steps.Slot) steps.Step {
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_DIRECTORY | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	s := step("placeholders", "openat2", unix.SYS_OPENAT2, path, steps.Int(unix.AT_FDCWD), steps.Str(path), steps.Ptr(how), steps.Int(unix.SizeofOpenHow))
	s.Save = slot
	return s
}

// MakeOwn creates ethos's directory in the work space of a plan, if the command may write
// there and there is none. A plan that is built again protects it. A session puts what it
// quarantines there.
func MakeOwn(p *plan.Plan) (made bool, err error) {
	path := filepath.Join(p.Workspace, plan.EthosDir)
	if _, err := os.Lstat(path); err == nil || plan.Covering(p.Paths, path).Access != plan.ReadWrite {
		return false, nil
	}
	root, err := openOwn(p, path)
	if err != nil {
		return false, CausedRefusal(&plan.Refusal{Code: plan.CodeSetup, Err: err, Hint: plan.OwnHint}, p)
	}
	return true, root.Close()
}
