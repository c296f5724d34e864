package quarantine

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// live returns the sessions of runs in progress. What such a run has left so
// far may be moved away before it ends, and then be put back by the run that
// begins now.
func live(dir string, scope Scope) (list []*Session) {
	if dir == "" {
		return nil
	}
	names, _ := os.ReadDir(dir) // none: no run has ever begun
	for _, e := range names {
		if strings.HasPrefix(e.Name(), unfinished) {
			continue
		}
		file, err := os.OpenFile(filepath.Join(dir, e.Name()), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		if unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil { // another process holds the lock
			j := &journal{file: file, path: file.Name()}
			if s, err := j.session(scope); err == nil {
				list = append(list, s)
			} else {
				s.Close()
			}
		}
		file.Close()
	}
	return list
}

// doubt removes from the known files what another run in progress did not know
// when it began, because that run's command may have created it.
func (s *Session) doubt(others []*Session) {
	for _, other := range others {
		for id, path := range s.where {
			if !other.known[id] && other.writable(path) {
				delete(s.known, id)
			}
		}
		other.Close()
	}
}
