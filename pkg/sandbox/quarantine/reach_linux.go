package quarantine

import "golang.org/x/sys/unix"

// origin identifies a file in addition to its inode number, because the kernel
// reuses the number of a deleted file.
type origin struct {
	ino         uint64
	seconds     int64
	nanoseconds uint32
}

func originOf(st unix.Statx_t) origin { return origin{st.Ino, st.Btime.Sec, st.Btime.Nsec} }

// protect records the paths that the command cannot write to.
func (s *Session) protect() {
	s.readOnly = map[string]origin{}
	for _, path := range s.scope.ReadOnly {
		if st, ok := s.stat(path); ok {
			s.readOnly[path] = originOf(st)
		}
	}
}

// writable reports whether the command could change what lies at a path. The
// plan says no for paths that a mount protects. A mount protects one file under
// one name. It does not protect a file that a user or a parallel run put there
// later, nor one with a second name.
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

// replaced reports whether a protected path now holds a different file.
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

// stat returns the status of a path in the trees without following symbolic
// links.
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
