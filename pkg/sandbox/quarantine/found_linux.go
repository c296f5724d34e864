package quarantine

import (
	"errors"
	"fmt"
	"strings"
)

// maxFound bounds the text of the findings that a session lists, in bytes: once for those that are
// still in effect, and once for all others, so that many that are not cannot keep one that is from
// being listed. A command can leave any number, with paths of 16 KiB.
const maxFound = 4 << 20

// maxWhat bounds the text of one: a setting that a command makes up has any length.
const maxWhat = 4 << 10

// surplus counts the findings of one tree that are not listed.
type surplus struct{ count, inEffect int }

// note adds a finding once.
func (s *Session) note(f Finding) {
	if s.learning {
		return
	}
	if len(f.What) > maxWhat {
		f.What = strings.ToValidUTF8(f.What[:maxWhat], "") + "..."
	}
	id := identify("finding", f.Path, f.What)
	if s.noted[id] {
		return
	}
	s.noted[id] = true
	used := &s.listed
	if f.Err != nil {
		used = &s.listedInEffect
	}
	if size := f.size(); *used+size <= maxFound {
		*used += size
		s.found = append(s.found, f)
		return
	}
	if t := s.treeOf(f.Path); t != nil {
		more := s.surplus[t]
		if more.count++; f.Err != nil {
			more.inEffect++
		}
		s.surplus[t] = more
	}
}

// size returns roughly how many bytes a finding takes.
func (f Finding) size() int {
	const fixed = 256
	size := fixed + len(f.Path) + len(f.What) + len(f.Aside)
	for _, name := range f.Programs {
		size += len(name)
	}
	if f.Err != nil {
		size += len(f.Err.Error())
	}
	return size
}

// sumUp adds one finding for those in each tree that are not listed.
func (s *Session) sumUp() {
	for _, t := range s.trees {
		more := s.surplus[t]
		if more.count == 0 {
			continue
		}
		delete(s.surplus, t)
		f := Finding{Path: t.path, What: fmt.Sprintf("%d more, which are not listed one by one", more.count), More: more.count}
		if st := s.store[t]; st != nil && st.err == nil {
			f.Aside = st.path
			f.What += "; what was moved lies under its path in " + st.path
		}
		if more.inEffect > 0 {
			f.Err = errors.New("there are too many to list them, and " + fmt.Sprint(more.inEffect) + " of them could not be moved")
		}
		s.found = append(s.found, f)
	}
}
