package quarantine

import "golang.org/x/sys/unix"

// origin tells a file from another under its name: an inode's number is given to
// a new file once it is free.
type origin struct {
	ino         uint64
	seconds     int64
	nanoseconds uint32
}

func originOf(st unix.Statx_t) origin { return origin{st.Ino, st.Btime.Sec, st.Btime.Nsec} }

// protect remembers what the command was kept from.
func (s *Session) protect() {
	s.readOnly = map[string]origin{}
	for _, path := range s.scope.ReadOnly {
		if st, ok := s.stat(path); ok {
			s.readOnly[path] = originOf(st)
		}
	}
}

// writable reports whether the command could change what lies at a path. The
// plan says no where a mount protects it. A mount protects the file that it was
// made on, under that name: not another that was put there since, by a person or
// by a run that goes on beside this one, and not one that has a second name.
func (s *Session) writable(path string) bool {
	switch {
	case s.treeOf(path) == nil:
		return false
	case s.scope.Writable == nil || s.scope.Writable(path):
		return true
	}
	st, ok := s.stat(path)
	return ok && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink > 1 || s.replaced(path)
}

// replaced reports whether something else lies where the command was kept from.
func (s *Session) replaced(path string) bool {
	for protected, was := range s.readOnly {
		if !within(path, protected) {
			continue
		}
		if st, ok := s.stat(protected); !ok || originOf(st) != was {
			return true
		}
	}
	return false
}

// stat looks at what lies at a path of the trees, no link followed.
func (s *Session) stat(path string) (st unix.Statx_t, ok bool) {
	t := s.treeOf(path)
	if t == nil {
		return st, false
	}
	fd, err := t.open(path, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return st, false
	}
	defer unix.Close(fd)
	return st, unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_TYPE|unix.STATX_NLINK|unix.STATX_INO|unix.STATX_BTIME, &st) == nil
}
