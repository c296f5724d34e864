package quarantine

import (
	"io/fs"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/treescan"
)

// ownTop is the directory that ethos keeps in a work space, or in a git
// directory under the name in keptInGit. Commands write to parts of both without
// a mount that could show it: the upper layers of the caches are there, and what
// was moved away. The search after a run passes both by.
const ownTop = ".coding-ethos"

// ownTraces is what a person may link to: no command writes it.
const ownTraces = "traces"

// ownPart returns the path below the directory of ethos on the way to a path,
// with links resolved; owned reports whether there is one. The place of the
// tree itself does not count.
func (s *Session) ownPart(path string) (part string, owned bool) {
	above, rest := "", path
	if t := s.treeOf(path); t != nil {
		above, rest = filepath.Base(t.path), t.rel(path)
	}
	for rest != "" {
		name, below, _ := strings.Cut(rest, "/")
		if strings.EqualFold(name, ownTop) || strings.EqualFold(above+"/"+name, keptInGit) {
			return below, true
		}
		above, rest = name, below
	}
	return "", false
}

func (s *Session) owned(path string) bool {
	_, owned := s.ownPart(path)
	return owned
}

const intoOwn = ", where ethos keeps what commands have written"

// links moves away the symbolic links of one directory that lead to a directory
// of ethos: whoever changes to such a link is in a place that was not judged.
func (s *Session) links(t *tree, p treescan.Place) {
	dir := -1
	for _, e := range p.Entries {
		if e.Type != fs.ModeSymlink {
			continue
		}
		if dir < 0 {
			var err error
			if dir, err = t.open(p.Path(), unix.O_PATH|unix.O_DIRECTORY); err != nil {
				return // moved with the directory around it
			}
			defer unix.Close(dir)
		}
		text, path := readLink(dir, e.Name), p.Path()
		if stays(text) && within(filepath.Join(path, text), t.path) && !strings.Contains(strings.ToLower(text), ownTop[1:]) {
			continue // what it leads through in the tree is checked itself
		}
		if s.owned(join(path, e.Name)) {
			continue
		}
		to, err := t.resolve(path, text)
		if err != nil && !filepath.IsAbs(text) {
			to.path = filepath.Join(path, text)
		} else if err != nil {
			to.path = filepath.Clean(text)
		}
		if part, owned := s.ownPart(to.path); owned && !within(part, ownTraces) {
			g := &gitDir{Session: s, tree: t, path: path}
			g.remove(join(path, e.Name), "a symbolic link to "+text+intoOwn)
		}
	}
}

// stays reports whether the text of a link leads where it says: it is relative, and
// does not go up from what may be another link.
func stays(text string) bool {
	named := false
	for part := range strings.SplitSeq(text, "/") {
		if part == ".." && named {
			return false
		}
		named = named || part != "" && part != "." && part != ".."
	}
	return !filepath.IsAbs(text)
}

// readLink returns the text of a symbolic link.
func readLink(dir int, name string) string {
	var b [4097]byte
	n, err := unix.Readlinkat(dir, name, b[:])
	if err != nil {
		return ""
	}
	return string(b[:n])
}
