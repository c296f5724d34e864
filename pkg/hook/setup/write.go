package setup

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// maxSettings is the size limit of a settings file, in bytes.
const maxSettings = 4 << 20

// Backup is the suffix of the file that keeps the text before the change.
const Backup = ".before-ethos"

// errChanged is the error for a file that was written since it was read.
var errChanged = errors.New("it has changed meanwhile: run it again")

// open opens the directory to which a change is confined, and returns the path of a file in it with
// links resolved. A link out of the directory is an error.
func (p Place) open(path string) (*os.Root, string, error) {
	base, err := filepath.EvalSymlinks(p.base)
	if err != nil {
		return nil, "", err
	}
	rel, err := filepath.Rel(p.base, path)
	if err != nil {
		return nil, "", err
	}
	if real, err := resolve(filepath.Join(base, rel)); err != nil {
		return nil, "", err
	} else if rel, err = filepath.Rel(base, real); err != nil || !filepath.IsLocal(rel) {
		return nil, "", fmt.Errorf("%s is a link to %s, out of %s: change that file itself", path, real, base)
	}
	root, err := os.OpenRoot(base)
	return root, rel, err
}

// resolve resolves the links of a path whose end need not exist.
func resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSymlink {
		return "", fmt.Errorf("%s is a dangling symbolic link", path)
	}
	dir, err := resolve(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// read returns the text of a file, or nil if it does not exist.
func (p Place) read(path string) ([]byte, error) {
	if _, err := os.Stat(p.base); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	root, name, err := p.open(path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	text, _, err := readFile(root, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return text, nil
}

// kept returns the text that was kept of a file before a change, or nil.
func (p Place) kept(path string) ([]byte, error) {
	root, name, err := p.open(path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	text, _, err := readFile(root, name+Backup)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path+Backup, err)
	}
	return text, nil
}

func readFile(root *os.Root, name string) ([]byte, fs.FileInfo, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err == nil && len(text) > maxSettings {
		err = fmt.Errorf("it is larger than %d bytes", maxSettings)
	}
	if text == nil {
		text = []byte{}
	}
	return text, info, err
}

// Write writes the change. Files that were written before an error stay written, and the error says
// how far it got.
func (c *Change) Write() error {
	if err := os.MkdirAll(c.place.base, 0o755); err != nil {
		return err
	}
	for _, e := range c.edits {
		if !e.changes() {
			continue
		}
		if err := c.write(e); err != nil {
			return fmt.Errorf("%s: %w", e.path, err)
		}
	}
	return nil
}

func (c *Change) write(e edit) error {
	root, name, err := c.place.open(e.path)
	if err != nil {
		return err
	}
	defer root.Close()
	fresh := missing(root, filepath.Dir(name))
	if err = c.writeIn(root, name, e); err != nil {
		for _, dir := range fresh {
			_ = root.Remove(dir) // it is empty, or in use
		}
	}
	return err
}

// missing returns the directories on the way to one that do not exist, the deepest first.
func missing(root *os.Root, dir string) (list []string) {
	for ; dir != "."; dir = filepath.Dir(dir) {
		if _, err := root.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		list = append(list, dir)
	}
	return list
}

func (c *Change) writeIn(root *os.Root, name string, e edit) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	// The directory is opened once, so that swapping it in the meantime does not redirect the
	// write.
	dir, err := root.OpenRoot(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	lock, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	name = filepath.Base(name)
	now, info, err := readFile(dir, name)
	switch {
	case err != nil:
		return err
	case (now == nil) != (e.before == nil) || !bytes.Equal(now, e.before):
		return errChanged
	}
	mode := fs.FileMode(0o600)
	if info != nil {
		mode = info.Mode().Perm()
	}
	if err := e.keep(dir, name, now, mode); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if e.after == nil {
		return dir.Remove(name)
	}
	return replace(dir, name, e.after, mode)
}

// mostKept limits the texts of a person that are kept.
const mostKept = 100

// keep keeps the text before a change; nil means that there is no file. A text of the person alone,
// which an earlier change kept, is not lost: it stays if the file has a part of ethos, and gets a
// number if the person has changed the file since.
func (e *edit) keep(dir *os.Root, name string, now []byte, mode fs.FileMode) error {
	was, _, err := readFile(dir, name+Backup)
	if err != nil {
		return err
	}
	if was != nil && !e.format.has(was) {
		if now != nil && (e.format.has(now) || bytes.Equal(was, now)) {
			return nil
		}
		if err := number(dir, name+Backup); err != nil {
			return err
		}
	}
	if now == nil {
		return nil
	}
	return replace(dir, name+Backup, now, mode)
}

// number moves a file to the first free name with a number.
func number(dir *os.Root, name string) error {
	for i := 1; i <= mostKept; i++ {
		free := fmt.Sprintf("%s.%d", name, i)
		if _, err := dir.Lstat(free); errors.Is(err, fs.ErrNotExist) {
			return dir.Rename(name, free)
		}
	}
	return fmt.Errorf("there are %d of %s already: move them away", mostKept, name)
}

// replace atomically replaces a file: a reader sees the old text or the new one.
func replace(dir *os.Root, name string, text []byte, mode fs.FileMode) error {
	fresh := "." + name + "." + rand.Text()
	f, err := dir.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = dir.Rename(fresh, name)
	}
	if err != nil {
		_ = dir.Remove(fresh)
	}
	return err
}
