package quarantine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// live returns the sessions of runs in progress. What such a run has left so
// far may be moved away before it ends, and then be put back by the run that
// begins now. It leaves out the journals named in seen, and adds the others.
func live(dir string, scope Scope, seen map[string]bool) (list []*Session) {
	if dir == "" {
		return nil
	}
	names, _ := os.ReadDir(dir) // none: no run has ever begun
	for _, e := range names {
		if strings.HasPrefix(e.Name(), unfinished) || seen[e.Name()] {
			continue
		}
		file, err := os.OpenFile(filepath.Join(dir, e.Name()), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		if unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil { // another process holds the lock
			j := &journal{file: file, path: file.Name()}
			if s, err := j.session(scope); err == nil {
				list, seen[e.Name()] = append(list, s), true
			} else {
				s.Close()
			}
		}
		file.Close()
	}
	return list
}

// learn records what exists. If another run has begun meanwhile, it looks again,
// with that in mind.
func (s *Session) learn(seen map[string]bool) {
	for {
		clear(s.known)
		clear(s.heads)
		s.noteKept()
		s.look()
		more := live(s.scope.Journals, s.scope, seen)
		if len(more) == 0 {
			break
		}
		s.others = append(s.others, more...)
	}
	for _, other := range s.others {
		other.Close()
	}
	s.others, s.learning = nil, false
}

// doubtful reports whether another run in progress did not know something when
// it began, because that run's command may have created it.
func (s *Session) doubtful(id identifier, path string) bool {
	return slices.ContainsFunc(s.others, func(other *Session) bool { return !other.known[id] && other.writable(path) })
}
