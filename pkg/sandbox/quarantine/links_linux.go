package quarantine

import (
	"errors"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// maxBehind bounds how many entries of directories are compared behind one
// link. A directory that has more at the start is not compared.
const maxBehind = 4096

// behind checks what a symbolic link with a known text leads to, as if it stood
// in the link's place: another link on the way, or the file at the end, can
// change without it. check is called for what lies in the trees. A directory
// that contains the link is left out: it is not one of settings or hooks.
func (s *Session) behind(path, text string, check func(t *tree, path string, typ fs.FileMode)) {
	next := text
	if !filepath.IsAbs(next) {
		next = filepath.Join(filepath.Dir(path), next)
	}
	end, err := s.treeOf(path).resolve(filepath.Dir(path), filepath.Base(path))
	if err != nil {
		end = target{path: "nothing"}
	}
	t := s.treeOf(end.path)
	if t == nil && s.treeOf(next) == nil {
		return // the command could not change it
	}
	if !s.allowed("end", path, end.path) {
		s.retargeted(path, text, end)
		return
	}
	if t == nil || end.missing || within(path, end.path) {
		return
	}
	if st, ok := s.stat(end.path); ok {
		check(t, end.path, typeOf(st))
	}
}

// retargeted quarantines a link that leads elsewhere than at the start, or else
// what it leads to.
func (s *Session) retargeted(path, text string, end target) {
	g := &gitDir{Session: s, path: path}
	what := "a symbolic link to " + text + " that did not lead to " + end.path + " before"
	switch {
	case s.judges(path):
		g.aside(path, what)
	case s.treeOf(end.path) != nil:
		g.aside(end.path, "a file to which "+path+" did not lead before")
	case end.path != "nothing":
		s.note(Finding{Path: path, What: what, Err: errors.New("the link is protected, and what it leads to lies elsewhere")})
	}
}

// typeOf returns the type of a file.
func typeOf(st unix.Statx_t) fs.FileMode {
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return 0
	case unix.S_IFDIR:
		return fs.ModeDir
	case unix.S_IFSOCK:
		return fs.ModeSocket
	case unix.S_IFIFO:
		return fs.ModeNamedPipe
	}
	return fs.ModeDevice
}
