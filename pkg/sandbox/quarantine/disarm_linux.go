package quarantine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxDisarm is the depth to which a directory is searched as one. What lies
// deeper is moved up first, because each level takes open files.
const maxDisarm = 100

// maxPrograms bounds the list of the files that lost their execute permission.
const maxPrograms = 100

// maxTries bounds the names that are tried for one that is taken.
const maxTries = 100

// disarmed is the outcome of [disarm].
type disarmed struct {
	// programs are the files that lost their execute permission, relative to the
	// name: "" is the name itself. They have the names that they have afterwards.
	programs []string
	faults   []error  // what keeps its effect
	deep     []string // directories that were moved to the top, to be searched there
	top      int      // the directory at the top
}

// disarm makes something harmless before it is moved to the store: programs
// lose their execute permission, and nothing in it keeps a name by which git
// recognises a git directory, at any depth.
func disarm(dir int, name string) (programs []string, err error) {
	d := &disarmed{top: -1}
	d.entry(dir, name, "", 0)
	if len(d.deep) > 0 {
		top, err := openBeneath(dir, name, unix.O_PATH|unix.O_DIRECTORY)
		if err != nil {
			return d.programs, err
		}
		defer unix.Close(top)
		d.rest(top)
	}
	return d.programs, errors.Join(d.faults...)
}

// disarmAgain disarms what was moved before: a process that was alive then may
// still have been in it.
func (s *Session) disarmAgain() {
	for _, f := range s.found {
		t := s.treeOf(f.Aside)
		if f.More > 0 || t == nil {
			continue
		}
		dir, name, err := t.parent(f.Aside)
		if err != nil {
			continue
		}
		if _, err := disarm(dir, name); err != nil {
			s.note(Finding{Path: f.Path, What: f.What, Aside: f.Aside, Err: err})
		}
		unix.Close(dir)
	}
}

// rest disarms what was moved to the top.
func (d *disarmed) rest(top int) {
	d.top = top
	for len(d.deep) > 0 {
		next := d.deep[0]
		d.deep = d.deep[1:]
		d.entry(top, next, next, 1)
	}
}

// fault notes why something keeps its effect.
func (d *disarmed) fault(path string, err error) {
	if err != nil && len(d.faults) < maxPrograms && !errors.Is(err, fs.ErrNotExist) {
		d.faults = append(d.faults, fmt.Errorf("%q: %w", path, err))
	}
}

// entry disarms a file or directory; path is where it is below the top.
func (d *disarmed) entry(dir int, name, path string, depth int) {
	fd, err := openBeneath(dir, name, unix.O_PATH|unix.O_NOFOLLOW)
	var st unix.Stat_t
	if err == nil {
		defer unix.Close(fd)
		err = unix.Fstat(fd, &st)
	}
	if err != nil {
		d.fault(path, err)
		return
	}
	self := "/proc/self/fd/" + strconv.Itoa(fd)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		err := os.Chmod(self, fs.FileMode(st.Mode&0o666))
		if st.Mode&0o111 == 0 {
			return
		}
		if d.fault(path, err); err == nil && len(d.programs) < maxPrograms {
			d.programs = append(d.programs, path)
		}
	case unix.S_IFDIR:
		if st.Mode&0o777 != 0o700 {
			d.fault(path, os.Chmod(self, 0o700))
		}
		if depth == 0 {
			d.top = fd
			defer func() { d.top = -1 }()
		}
		d.all(fd, path, depth+1)
	}
}

// all disarms everything in a directory.
func (d *disarmed) all(dir int, path string, depth int) {
	fd, err := openBeneath(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		d.fault(path, err)
		return
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	names, err := f.Readdirnames(-1)
	d.fault(path, err)
	for _, name := range names {
		if strings.EqualFold(name, "HEAD") || strings.EqualFold(name, ".git") {
			to, err := freed(dir, name, dir)
			if err != nil {
				d.fault(filepath.Join(path, name), err)
				continue
			}
			name = to
		}
		if depth > maxDisarm && d.up(dir, name, path) {
			continue
		}
		d.entry(dir, name, filepath.Join(path, name), depth)
	}
}

// up moves a directory that lies too deep to the top.
func (d *disarmed) up(dir int, name, path string) bool {
	fd, err := openBeneath(dir, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW)
	if err != nil {
		return false // no directory, or entry says why
	}
	_ = os.Chmod("/proc/self/fd/"+strconv.Itoa(fd), 0o700) // the rename changes the entry ".." in it
	unix.Close(fd)
	to, err := freed(dir, name, d.top)
	if d.fault(filepath.Join(path, name), err); err == nil {
		d.deep = append(d.deep, to)
	}
	return true
}

// freed renames something to a name with the suffix that is not taken.
func freed(dir int, name string, to int) (as string, err error) {
	short := shorten(name)
	as = short + suffix
	for range maxTries {
		if err = unix.Renameat2(dir, name, to, as, unix.RENAME_NOREPLACE); !errors.Is(err, fs.ErrExist) {
			return as, err
		}
		as = short + "." + randomName() + suffix
	}
	return "", err
}
