package quarantine

import (
	"slices"
	"strings"

	"ethos/pkg/sandbox/treescan"
)

// pass is one walk through all trees.
type pass struct {
	seen  map[identifier]bool // git directories and configurations that are, or will be, checked
	queue []candidate
	names
}

// candidate is a directory that git could recognise as a git directory.
type candidate struct {
	dir *treescan.Dir
	own bool // it is certainly one: .git, or a submodule's
}

// look checks everything that the scans found. If something could not be moved,
// it looks again, at what leads there.
func (s *Session) look() {
	clear(s.stuck)
	if s.walk(); len(s.stuck) > 0 {
		s.walk()
	}
	s.environment()
}

// walk checks each git directory, and then what their settings name in each
// directory in which git would be used with them.
func (s *Session) walk() {
	s.pass = &pass{seen: map[identifier]bool{}, names: newNames()}
	for i, scan := range s.scans {
		for _, p := range scan.Places {
			s.place(s.trees[i], p)
		}
	}
	for len(s.pass.queue) > 0 {
		next := s.pass.queue[0]
		s.pass.queue = s.pass.queue[1:]
		s.gitDir(next)
	}
	s.followAll()
	s.pass = nil
}

// place checks the relevant entries of one directory.
func (s *Session) place(t *tree, p treescan.Place) {
	if !s.learning {
		s.links(t, p)
	}
	var has []string
	for _, e := range p.Entries {
		name := strings.ToLower(e.Name)
		has = append(has, name)
		if name == ".git" {
			s.dotGit(t, p.Dir, e)
		}
		for _, names := range s.settings {
			if at := standsIn(p.Dir, names, name, e.Type); at >= 0 {
				s.setting(t, join(p.Path(), e.Name), settingPlace{rel: strings.Join(names[:at+1], "/"), root: p.Dir.Depth() == at}, e.Type)
			}
		}
	}
	if isGitDir(has) {
		s.enqueue(candidate{dir: p.Dir})
	}
}

// isGitDir implements setup.c, is_git_directory, for the lower-cased names in a
// directory, because some file systems are case-insensitive.
func isGitDir(has []string) bool {
	all := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(has, name) })
	}
	return all("head", "commondir") || all("head", "objects", "refs")
}

// first reports whether something at a path is met for the first time in this
// pass.
func (p *pass) first(kind, path string) bool {
	id := identify(kind, path)
	met := p.seen[id]
	p.seen[id] = true
	return !met
}

func (s *Session) enqueue(c candidate) {
	if s.pass.first("directory", c.dir.Path()) {
		s.pass.queue = append(s.pass.queue, c)
	}
}
