package facts

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// Tree is the file system as this package uses it. Names are absolute. The package opens only
// directories, to list their names, the configuration file, and, if runs are recorded, the code
// that would be executed.
type Tree interface {
	Lstat(name string) (fs.FileInfo, error)
	Readlink(name string) (string, error)
	Names(dir string, most int) ([]string, error) // at most that many entries
	ReadFile(name string, most int64) ([]byte, error)
}

// OS is the file system of this machine.
type OS struct{}

// Lstat is os.Lstat.
func (OS) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

// Readlink is os.Readlink.
func (OS) Readlink(name string) (string, error) { return os.Readlink(name) }

// Names reads a directory in the order of the file system. It does not block if the name is a FIFO.
func (OS) Names(dir string, most int) ([]string, error) {
	d, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(most)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}

// ReadFile reads a regular file. It does not block if the name is a device, a pipe or a socket.
func (OS) ReadFile(name string, most int64) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("read %s: not a regular file", name)
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("read %s: larger than %d bytes", name, most)
	}
	return text, err
}

// maxLinks is how many symbolic links a path may lead through: the kernel's MAXSYMLINKS
// (include/linux/namei.h), path_resolution(7).
const maxLinks = 40

// resolved is the result of resolving a path.
type resolved struct {
	name    string // absolute; components that do not exist stay as written
	exists  bool
	links   []string // the directories that contain the symbolic links that were followed
	partial bool     // something could not be examined, so the name is a guess
}

// resolve follows every symbolic link of an absolute path without opening its target; ".." goes to
// the real parent. It follows a link in the last component unless nofollow is set, as for unlink
// and rename.
func resolve(t Tree, name string, nofollow bool) resolved {
	r := resolved{name: "/", exists: true}
	rest := strings.Split(name, "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			r.name = path.Dir(r.name)
			continue
		}
		next := path.Join(r.name, part)
		target, isLink := r.look(t, next)
		if !isLink || nofollow && last(rest) {
			r.name = next
			continue
		}
		if links++; links > maxLinks {
			return resolved{name: path.Join(append([]string{next}, rest...)...), links: []string{r.name}, partial: true}
		}
		r.links = append(r.links, r.name)
		if strings.HasPrefix(target, "/") {
			r.name = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return r
}

// Resolve returns the target of an absolute path on this machine, as far as it exists.
func Resolve(name string) string { return resolve(OS{}, name, false).name }

// last reports whether no component follows. A trailing slash makes the kernel follow the link
// before it.
func last(rest []string) bool { return len(rest) == 0 }

// look reports whether a component is a symbolic link, and records if it does not exist or cannot
// be examined.
func (r *resolved) look(t Tree, name string) (target string, isLink bool) {
	if !r.exists {
		return "", false
	}
	info, err := t.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		target, err = t.Readlink(name)
		if err == nil {
			return target, true
		}
	}
	if err != nil {
		r.exists = false
		r.partial = r.partial || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
	}
	return "", false
}
