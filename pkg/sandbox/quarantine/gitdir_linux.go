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

// gitDir is one git directory that is judged.
type gitDir struct {
	*Session
	*tree
	path string
	own  bool // it is nothing but a git directory: names that git does not make are none of a project's
	sole bool // it has no commondir: its configuration is the one that its work trees share
	hash int  // bytes of an object's name, 0 before they are known
}

// dotGit judges an entry of the name .git in a work tree.
func (s *Session) dotGit(t *tree, path string, typ fs.FileMode) {
	g := &gitDir{Session: s, tree: t, path: path, own: true}
	switch typ {
	case fs.ModeDir:
		s.enqueue(candidate{path, true})
	case 0:
		g.gitFile(path)
	case fs.ModeSymlink:
		g.symlink(path, true)
	default:
		g.odd(path, kindOf(typ))
	}
}

// kindOf names what a file is.
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

// gitDir judges one git directory.
func (s *Session) gitDir(c candidate) {
	t := s.treeOf(c.path)
	if t == nil || s.pass.seen[c.path] {
		return
	}
	s.pass.seen[c.path] = true
	dir, err := t.list(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return // it was put aside with what it lay in
	}
	if err != nil {
		s.note(Finding{Path: c.path, What: "a git directory that cannot be read", Err: err})
		return
	}
	defer dir.close()
	g := &gitDir{Session: s, tree: t, path: c.path, own: c.own || strings.Contains(c.path, "/.git/")}
	order := func(e treescan.Entry) int { // where the rest is read by what these say
		return slices.Index([]string{"commondir", "config"}, e.Name)
	}
	slices.SortStableFunc(dir.entries, func(a, b treescan.Entry) int { return order(b) - order(a) })
	g.sole = !slices.ContainsFunc(dir.entries, func(e treescan.Entry) bool { return strings.EqualFold(e.Name, "commondir") })
	for _, e := range dir.entries {
		g.entry("", dir, e)
	}
}

// entry judges one entry of a git directory, or of a part of it.
func (g *gitDir) entry(part string, dir listing, e treescan.Entry) {
	path, typ := join(dir.path, e.Name), e.Type
	r := roleOf(part, e.Name)
	if part == "" && e.Name == g.scope.Kept {
		return // a git directory that is a writable tree itself
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

// stray is something that git does not make.
func (g *gitDir) stray(path string, typ fs.FileMode) {
	if typ == fs.ModeSymlink {
		g.symlink(path, true)
		return
	}
	g.odd(path, kindOf(typ)+" that git does not make")
}

// odd puts something aside, unless it was there.
func (g *gitDir) odd(path, what string) {
	if !g.allowed("odd", path, what) {
		g.aside(path, what)
	}
}

// symlink is left when it was there, and leads where it led. What it leads to is
// judged as what stands in its place.
func (g *gitDir) symlink(path string, isDir bool) {
	to, err := g.tree.link(path)
	if err != nil {
		to = "error: " + err.Error()
	}
	if !g.allowed("link", path, to) {
		g.aside(path, "a symbolic link to "+to)
		return
	}
	end, err := g.tree.resolve(filepath.Dir(path), filepath.Base(path))
	if err != nil || g.treeOf(end.path) == nil || end.missing {
		return
	}
	other := &gitDir{Session: g.Session, tree: g.treeOf(end.path), path: g.path, own: g.own, hash: g.hash}
	r := roleOf("", filepath.Base(path))
	switch {
	case filepath.Base(path) == ".git" && end.dir:
		g.enqueue(candidate{end.path, true})
	case end.dir && r >= subtree:
		other.directory(r, filepath.Base(path), end.path)
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

// directory judges a directory by its role.
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
			g.enqueue(candidate{below, true})
		case r == modules && e.Type == fs.ModeDir:
			g.module(below)
		default:
			g.stray(below, e.Type)
		}
	}
}

// parts judges a directory of which every name is known, if it is there.
func (g *gitDir) parts(part, path string) {
	dir, err := g.tree.list(path)
	if err != nil {
		return // what is no directory, subtree has told
	}
	defer dir.close()
	for _, e := range dir.entries {
		g.entry(part, dir, e)
	}
}

// module judges what lies among the git directories of submodules, whose names
// may have slashes in them.
func (g *gitDir) module(path string) {
	entries, err := g.tree.entries(path)
	if err != nil {
		g.odd(path, "a directory that cannot be read: "+err.Error())
		return
	}
	for _, e := range entries {
		if e.Type == 0 && slices.Contains([]string{"HEAD", "config", "config.worktree", "commondir", "index", "gitdir"}, e.Name) {
			g.enqueue(candidate{path, true})
			return
		}
	}
	for _, e := range entries {
		if e.Type == fs.ModeDir {
			g.module(join(path, e.Name))
		} else {
			g.stray(join(path, e.Name), e.Type)
		}
	}
}

// subtree puts aside what is neither a file nor a directory, however deep.
func (g *gitDir) subtree(path string) {
	for _, scan := range g.scans {
		i, _ := slices.BinarySearchFunc(scan.Places, path, func(p place, path string) int { return strings.Compare(p.Path, path) })
		for ; i < len(scan.Places) && strings.HasPrefix(scan.Places[i].Path, path); i++ {
			if !within(scan.Places[i].Path, path) {
				continue
			}
			for _, e := range scan.Places[i].Entries {
				if e.Type != 0 && e.Type != fs.ModeDir {
					g.stray(join(scan.Places[i].Path, e.Name), e.Type)
				}
			}
		}
	}
}

// hook judges an entry of a directory of hooks. git-init(1) makes samples, which
// git does not run.
func (g *gitDir) hook(path string, e treescan.Entry) {
	if e.Type == 0 && strings.HasSuffix(e.Name, ".sample") {
		return
	}
	g.program(path, e.Type, "a hook")
}

// program puts aside what would run, unless the same was there.
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
	}
}

// modeOf tells whether a file can be executed.
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

// file judges a file by its role.
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

// maxText bounds what is read of a file that git reads as text. Git's own are far
// below it; what is larger is put aside as a whole.
const maxText = 8 << 20

// text reads a file.
func (g *gitDir) text(path string) ([]byte, error) {
	f, err := g.tree.file(path)
	if err != nil {
		return nil, err
	}
	defer f.close()
	if f.size > maxText {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errLarge}
	}
	return f.text(maxText + 1)
}
