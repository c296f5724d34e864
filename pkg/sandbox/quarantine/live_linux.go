package quarantine

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// live are the sessions of runs that are under way. What they left so far may be
// taken away again before they end, and put back by the run that now begins.
func live(dir string, scope Scope) (list []*Session) {
	if dir == "" {
		return nil
	}
	names, _ := os.ReadDir(dir) // none: no run was ever begun
	for _, e := range names {
		if strings.HasPrefix(e.Name(), unfinished) {
			continue
		}
		file, err := os.OpenFile(filepath.Join(dir, e.Name()), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		if unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil { // somebody holds it
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

// doubt forgets what another run, which is under way, did not know when it
// began: it can have come from that run's command.
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
