package quarantine

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/treescan"
)

// gitDir is one git directory being checked.
type gitDir struct {
	*Session
	*tree
	dir  *treescan.Dir // nil for a file
	path string
	own  bool // it can only be a git directory, so names that git does not make are not project files
	sole bool // it has no commondir: its configuration is the one that its work trees share
	hash int  // length of an object name in bytes, 0 if not known yet

	including *configFile // the configuration that includes the one being checked
}

// dotGit checks an entry named .git in a work tree.
func (s *Session) dotGit(t *tree, in *treescan.Dir, e treescan.Entry) {
	if e.Type == fs.ModeDir {
		s.enqueue(candidate{in.Sub(e.Name), true})
		return
	}
	path := join(in.Path(), e.Name)
	g := &gitDir{Session: s, tree: t, path: path, own: true}
	switch e.Type {
	case 0:
		g.gitFile(in, path)
	case fs.ModeSymlink:
		g.symlink(path, true)
	default:
		g.odd(path, kindOf(e.Type))
	}
}

// kindOf returns the name of a file type.
func kindOf(typ fs.FileMode) string {
	switch typ {
	case fs.ModeSymlink:
		return "a symbolic link"
	case fs.ModeSocket:
		return "a socket"
	case fs.ModeNamedPipe:
		return "a FIFO"
	case fs.ModeDir:
		return "a directory"
	case 0:
		return "a file"
	}
	return "a device"
}

// gitDir checks one git directory.
func (s *Session) gitDir(c candidate) {
	path := c.dir.Path()
	t := s.treeOf(path)
	if t == nil {
		return
	}
	dir, err := t.list(path)
	if errors.Is(err, fs.ErrNotExist) {
		return // already moved with the directory around it
	}
	if err != nil {
		s.note(Finding{Path: path, What: "a git directory that cannot be read", Err: err})
		return
	}
	defer dir.close()
	g := &gitDir{Session: s, tree: t, dir: c.dir, path: path, own: c.own || strings.Contains(path, "/.git/")}
	order := func(e treescan.Entry) int { // the other files are read according to these
		return slices.Index([]string{"commondir", "config"}, e.Name)
	}
	slices.SortStableFunc(dir.entries, func(a, b treescan.Entry) int { return order(b) - order(a) })
	g.sole = !slices.ContainsFunc(dir.entries, func(e treescan.Entry) bool { return strings.EqualFold(e.Name, "commondir") })
	for _, e := range dir.entries {
		g.entry("", dir, e)
	}
	g.pass.dirs = append(g.pass.dirs, c.dir)
	if g.learning {
		g.allowed("gitdir", path)
	}
}

// entry checks one entry of a git directory, or of a part of it.
func (g *gitDir) entry(part string, dir listing, e treescan.Entry) {
	path, typ := join(dir.path, e.Name), e.Type
	r := roleOf(part, e.Name)
	if part == "" && e.Name == g.scope.Kept {
		return // a git directory that is itself a writable tree
	}
	isDir := r >= subtree
	switch {
	case r == unknown:
		if g.own || part != "" {
			g.stray(path, typ)
		}
	case typ == fs.ModeSymlink:
		g.symlink(path, isDir)
	case isDir != (typ == fs.ModeDir) || typ != 0 && typ != fs.ModeDir:
		if g.own || part != "" || isDir == (typ == fs.ModeDir) {
			g.odd(path, kindOf(typ)+" in its place")
		}
	case isDir:
		g.directory(r, e.Name, path)
	case isPrivileged(dir.fd, e.Name):
		g.odd(path, privileged)
	default:
		g.file(r, part, path)
	}
}

// stray handles an entry that git does not create.
func (g *gitDir) stray(path string, typ fs.FileMode) {
	if typ == fs.ModeSymlink {
		g.symlink(path, true)
		return
	}
	g.odd(path, kindOf(typ)+" that git does not make")
}

// odd quarantines an entry, unless it was there at the start.
func (g *gitDir) odd(path, what string) {
	if !g.allowed("odd", path, what) {
		g.aside(path, what)
	}
}

// symlink keeps a symbolic link that was there at the start with the same
// target. The target is checked as if it stood in the link's place.
func (g *gitDir) symlink(path string, isDir bool) {
	to, err := g.tree.link(path)
	if err != nil {
		to = "error: " + err.Error()
	}
	end, err := g.tree.resolve(filepath.Dir(path), filepath.Base(path))
	same := g.allowed("link", path, to)
	if err == nil && g.owned(end.path) && !g.owned(path) {
		g.remove(path, "a symbolic link to "+to+intoOwn)
		return
	}
	if !same || !g.allowed("link to", path, end.path) || g.stuck[identify(end.path)] {
		g.aside(path, "a symbolic link to "+to)
		return
	}
	if err != nil || end.missing {
		return
	}
	name := filepath.Base(path)
	if strings.EqualFold(name, ".git") {
		g.linkedDir(path, end)
		return
	}
	if g.treeOf(end.path) == nil {
		return
	}
	other := &gitDir{Session: g.Session, tree: g.treeOf(end.path), path: g.path, own: g.own, hash: g.hash}
	r := roleOf("", name)
	switch {
	case end.dir && r >= subtree:
		other.directory(r, name, end.path)
	case !end.dir && r < subtree && r != unknown:
		if dir, name, err := other.tree.parent(end.path); err == nil {
			set := isPrivileged(dir, name)
			unix.Close(dir)
			if set {
				other.odd(end.path, privileged)
				return
			}
		}
		other.file(r, "", end.path)
	}
}

// linkedDir checks what a link named .git in a work tree leads to.
func (g *gitDir) linkedDir(path string, end target) {
	t := g.treeOf(end.path)
	l := lead{path: path, in: g.dirAt(filepath.Dir(path))}
	switch {
	case t == nil && end.dir:
		g.reached(l, end.path)
		g.abroad(end.path)
	case end.dir:
		g.reached(l, end.path)
		g.enqueue(candidate{g.dirAt(end.path), true})
	case t != nil:
		other := &gitDir{Session: g.Session, tree: t, path: end.path, own: true}
		other.gitFile(l.in, end.path)
	}
}

// directory checks a directory according to its role.
func (g *gitDir) directory(r role, name, path string) {
	if r == subtree {
		g.subtree(path)
		if name == "objects" {
			g.parts("objects/info", join(path, "info"))
		}
		return
	}
	dir, err := g.tree.list(path)
	if err != nil {
		g.odd(path, "a directory that cannot be read: "+err.Error())
		return
	}
	defer dir.close()
	var in *treescan.Dir
	if r == worktrees || r == modules {
		in = g.dirOf(path)
	}
	for _, e := range dir.entries {
		below := join(path, e.Name)
		switch {
		case r == hooksDir:
			g.hook(below, e)
		case r == empty:
			g.program(below, e.Type, "what git once took for the address of a remote")
		case r == listed:
			g.entry(name, dir, e)
		case r == worktrees && e.Type == fs.ModeDir:
			g.enqueue(candidate{in.Sub(e.Name), true})
		case r == modules && e.Type == fs.ModeDir:
			g.module(in.Sub(e.Name))
		default:
			g.stray(below, e.Type)
		}
	}
}

// dirOf returns a directory that usually lies in the git directory.
func (g *gitDir) dirOf(path string) *treescan.Dir {
	if g.dir != nil && filepath.Dir(path) == g.path {
		return g.dir.Sub(strings.Clone(filepath.Base(path))) // not a part of the path, which would be kept
	}
	return g.dirAt(path)
}

// parts checks a directory in which every name is known, if it exists.
func (g *gitDir) parts(part, path string) {
	dir, err := g.tree.list(path)
	if err != nil {
		return // subtree has reported what is not a directory
	}
	defer dir.close()
	for _, e := range dir.entries {
		g.entry(part, dir, e)
	}
}

// module checks an entry among the git directories of submodules. The names of
// submodules may contain slashes.
func (g *gitDir) module(dir *treescan.Dir) {
	path := dir.Path()
	entries, err := g.tree.entries(path)
	if err != nil {
		g.odd(path, "a directory that cannot be read: "+err.Error())
		return
	}
	for _, e := range entries {
		if e.Type == 0 && slices.Contains([]string{"HEAD", "config", "config.worktree", "commondir", "index", "gitdir"}, e.Name) {
			g.enqueue(candidate{dir, true})
			return
		}
	}
	for _, e := range entries {
		if e.Type == fs.ModeDir {
			g.module(dir.Sub(e.Name))
		} else {
			g.stray(join(path, e.Name), e.Type)
		}
	}
}

// subtree quarantines everything below a directory that is neither a file nor a
// directory, at any depth.
func (g *gitDir) subtree(path string) {
	for _, scan := range g.scans {
		for _, p := range scan.Below(path) {
			for _, e := range p.Entries {
				if e.Type != 0 && e.Type != fs.ModeDir {
					g.stray(join(p.Path(), e.Name), e.Type)
				}
			}
		}
	}
}

// hook checks an entry of a hooks directory.
func (g *gitDir) hook(path string, e treescan.Entry) {
	if !sample(e) {
		f := follower{gitDir: g, word: path}
		f.program(path, e.Name, e.Type, "a hook")
	}
}

// sample reports whether an entry of a hooks directory is one that git-init(1)
// creates. Git does not run it.
func sample(e treescan.Entry) bool {
	return e.Type == 0 && strings.HasSuffix(e.Name, ".sample")
}

// program quarantines something executable, unless it was there unchanged at
// the start.
func (g *gitDir) program(path string, typ fs.FileMode, what string) {
	id := kindOf(typ)
	switch typ {
	case 0:
		id = g.tree.sum(path) + g.modeOf(path)
	case fs.ModeSymlink:
		id, _ = g.tree.link(path)
	}
	if !g.allowed("program", path, id) {
		g.aside(path, what)
		return
	}
	if typ == fs.ModeSymlink {
		g.behind(path, id, func(t *tree, end string, typ fs.FileMode) {
			if g.pass.first("program behind a link", end) {
				other := *g
				other.tree = t
				other.program(end, typ, what+", which "+path+" leads to")
			}
		})
	}
}

// modeOf says whether a file is executable.
func (g *gitDir) modeOf(path string) string {
	fd, err := g.tree.open(path, unix.O_PATH)
	if err != nil {
		return "?"
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return "?"
	}
	if st.Mode&0o111 != 0 {
		return "x"
	}
	return "-"
}

// file checks a file according to its role.
func (g *gitDir) file(r role, part, path string) {
	switch r {
	case settings:
		g.config(path)
	case indexFile:
		g.index(path)
	case todoFile:
		g.todo(path)
	case pointer:
		g.commonDir(path)
	case treeName:
		g.workTree(path)
	case checked:
		g.check(part, path)
	}
}

// isPrivileged reports whether a file in an open directory has a set-ID bit.
func isPrivileged(dir int, name string) bool {
	var st unix.Stat_t
	return unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&(unix.S_ISUID|unix.S_ISGID) != 0
}

const privileged = "a file with a set-ID bit"

// maxText limits the bytes read of a file that git reads as text. The files
// that git writes are far smaller; a larger file is quarantined as a whole.
const maxText = 8 << 20

// read reads a file.
func (t *tree) read(path string) ([]byte, error) {
	f, err := t.file(path)
	if err != nil {
		return nil, err
	}
	defer f.close()
	if f.size > maxText {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errLarge}
	}
	return f.text(maxText + 1)
}

// text reads a file.
func (g *gitDir) text(path string) ([]byte, error) { return g.tree.read(path) }
