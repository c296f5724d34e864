package quarantine

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"ethos/pkg/sandbox/treescan"
)

// split returns the names in each path.
func split(paths []string) (list [][]string) {
	for _, path := range paths {
		list = append(list, strings.Split(strings.ToLower(path), "/"))
	}
	return list
}

// standsIn returns which of the names of a path the entry of a directory has, or
// -1. It has the last one, or is a link in the place of a directory before.
func standsIn(dir *treescan.Dir, names []string, name string, typ fs.FileMode) int {
	for at, want := range names {
		if name != want || at != len(names)-1 && typ != fs.ModeSymlink {
			continue
		}
		if at == 0 || strings.HasSuffix(strings.ToLower(dir.Path()), "/"+strings.Join(names[:at], "/")) && dir.Depth() >= at {
			return at
		}
	}
	return -1
}

// setting checks a file or directory whose name decides what runs outside.
func (s *Session) setting(t *tree, path string, place settingPlace, typ fs.FileMode) {
	if !s.decides(place, typ) {
		return
	}
	g := &gitDir{Session: s, tree: t, path: path}
	switch typ {
	case 0:
		if !s.allowed("setting", path, t.sum(path)) {
			g.aside(path, place.what())
		}
	case fs.ModeDir:
		entries, err := t.entries(path)
		if err != nil {
			s.note(Finding{Path: path, What: "settings that cannot be read", Err: err})
		}
		few := place.affords(len(entries))
		if !s.learning && s.known[identify("unread", path)] {
			return // it had too many, so that the others are not known
		}
		if !few {
			if !s.allowed("unread", path) {
				g.aside(path, place.what()+", too many to be compared")
			}
			return
		}
		for _, e := range entries {
			s.setting(t, join(path, e.Name), place.below(e.Name), e.Type)
		}
	case fs.ModeSymlink:
		to, err := t.link(path)
		switch {
		case err == nil && s.allowed("setting", path, to):
			s.behind(path, to, func(t *tree, end string, typ fs.FileMode) { s.setting(t, end, place.behind(path), typ) })
		case err != nil || !s.leadsPast(t, path, place):
			g.aside(path, place.what()+", a link to "+to)
		}
	default:
		g.odd(path, kindOf(typ))
	}
}

// settingPlace is where something stands for the program whose settings it
// belongs to.
type settingPlace struct {
	rel  string // relative to the directory in which the protected name stands
	root bool   // that directory is the root of a tree
	link string // by which one gets there, "" if by none
	left *int   // how many more entries of directories are compared behind the first link
}

func (p settingPlace) below(name string) settingPlace {
	p.rel += "/" + name
	return p
}

// behind returns the same place for what a link there leads to.
func (p settingPlace) behind(link string) settingPlace {
	if p.left == nil {
		left := maxBehind
		p.left = &left
	}
	p.link = link
	return p
}

// affords reports whether so many entries may be compared.
func (p settingPlace) affords(entries int) bool {
	if p.left == nil {
		return true
	}
	*p.left -= entries
	return *p.left >= 0
}

func (p settingPlace) what() string {
	const what = "settings that apply outside of the sandbox"
	if p.link != "" {
		return what + ", which " + p.link + " leads to"
	}
	return what
}

// decides reports whether a file in a place decides what runs or, for anything
// but a file, whether something below it can.
func (s *Session) decides(place settingPlace, typ fs.FileMode) bool {
	ask := s.scope.Leads
	if typ == 0 {
		ask = s.scope.Runs
	}
	return ask == nil || ask(place.rel, place.root)
}

// leadsPast reports whether a link is in the place of a directory that decides
// nothing by itself, such as .github, and leads to none that has settings in it.
func (s *Session) leadsPast(t *tree, path string, place settingPlace) bool {
	part := false
	for _, name := range s.scope.Settings {
		if len(name) <= len(place.rel) || name[len(place.rel)] != '/' || !strings.EqualFold(name[:len(place.rel)], place.rel) {
			continue
		}
		part = true
		to, err := t.resolve(filepath.Dir(path), filepath.Base(path)+name[len(place.rel):])
		if err == nil && !to.missing || errors.Is(err, fs.ErrPermission) {
			return false
		}
	}
	return part
}
