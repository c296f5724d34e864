package quarantine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/treescan"
)

// stamp returns values that change when the mode of a directory changes.
func (t *tree) stamp(path string) (s [2]int64) {
	fd, err := t.open(path, unix.O_PATH)
	if err != nil {
		return s
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) == nil {
		s = [2]int64{int64(st.Ino), st.Ctim.Nano()}
	}
	return s
}

// open makes directories readable again that the command made unreadable to
// their owner, and scans them. Directories that were unreadable at the start
// and have not changed belong to the user and stay as they are.
func (s *Session) open(t *tree, scan *treescan.Tree) {
	var places []treescan.Place
	for todo := scan.Unreadable; len(todo) > 0; {
		u := todo[0]
		todo = todo[1:]
		path := u.Path()
		if was, ok := s.closed[identify(path)]; ok && was == t.stamp(path) {
			continue
		}
		if err := s.reopen(t, path, u.Err); err != nil {
			s.note(Finding{Path: path, What: "a directory that cannot be searched", Err: err})
			continue
		}
		s.note(Finding{Path: path, What: "a directory that its owner could not search; now it is readable and was searched", Rest: true})
		options := ScanOptions(s.scope.Settings, "", "")
		options.Dir = u.Dir
		below, err := treescan.Scan(context.Background(), path, options)
		if err != nil {
			s.note(Finding{Path: path, What: "a directory that cannot be searched", Err: err})
			continue
		}
		places = append(places, below.Places...)
		todo = append(todo, below.Unreadable...)
	}
	if len(places) > 0 {
		scan.Add(places)
	}
}

// reopen gives the owner of a directory the permission to search it, if that is
// why it could not be listed.
func (s *Session) reopen(t *tree, path string, why error) error {
	if !errors.Is(why, fs.ErrPermission) || !s.writable(path) {
		return why
	}
	return t.permit(path, unix.S_IRWXU)
}

// permit adds permissions to a file or directory that the caller owns.
// fchmod(2) does not accept an O_PATH descriptor.
func (t *tree) permit(path string, mode uint32) error {
	fd, err := t.open(path, unix.O_PATH)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&mode == mode {
		return fs.ErrPermission
	}
	return os.Chmod("/proc/self/fd/"+strconv.Itoa(fd), fs.FileMode(st.Mode&0o777|mode))
}
