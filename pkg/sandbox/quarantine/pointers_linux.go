package quarantine

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"ethos/pkg/gitrepo"
	"ethos/pkg/sandbox/treescan"
)

// maxGitFile is the limit in setup.c, read_gitfile_gently, in bytes.
const maxGitFile = 1 << 20

// lead is a file that names a directory which git then uses.
type lead struct {
	path string // of the file
	base string // what a relative name is relative to
	name string
	what string        // for a finding, which the name ends
	has  string        // what must be in the directory for git to use it; "" if git does not
	in   *treescan.Dir // the work tree, for .git
}

// gitFile checks a file named .git in a work tree, or to which a link of that
// name leads. A file that git does not accept as such leads nowhere.
func (g *gitDir) gitFile(in *treescan.Dir, path string) {
	text, err := g.text(path)
	if err != nil {
		g.odd(path, "a .git file that cannot be read: "+err.Error())
		return
	}
	if !strings.HasPrefix(strings.ToLower(strings.TrimSpace(string(text[:min(len(text), 4096)]))), "gitdir:") {
		return
	}
	name, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
	if !ok || len(text) > maxGitFile {
		name = "" // other programs read it differently
	}
	g.leads(lead{path: path, base: in.Path(), name: name, what: "a .git file to ", has: "head", in: in})
}

// commonDir checks the file commondir: gitrepository-layout(5).
func (g *gitDir) commonDir(path string) {
	text, err := g.text(path)
	if err != nil {
		g.odd(path, "a file commondir that cannot be read: "+err.Error())
		return
	}
	g.leads(lead{path: path, base: g.path, name: strings.TrimRight(string(text), "\r\n"), what: "a file commondir to ", has: "objects"})
}

// workTree checks the file gitdir of a linked work tree. git worktree repair
// writes to the path in it.
func (g *gitDir) workTree(path string) {
	text, err := g.text(path)
	if err != nil {
		g.odd(path, "a file gitdir that cannot be read: "+err.Error())
		return
	}
	g.leads(lead{path: path, base: g.path, name: strings.TrimRight(string(text), "\r\n"), what: "a work tree at "})
}

// leads checks a file that names a directory. The directory must lie in the
// trees, in a place that this pass judges, or be the one named at the start. One
// that was there at the start must know the work tree.
func (g *gitDir) leads(l lead) {
	to, err := g.tree.resolve(l.base, l.name)
	if err != nil || strings.ContainsAny(l.name, "\r\n") {
		if !g.allowed("leads", l.path, l.name) {
			g.aside(l.path, l.what+l.name)
		}
		return
	}
	switch same := g.allowed("leads", l.path, l.name, to.path); {
	case g.owned(to.path) && !g.owned(l.path):
		g.remove(l.path, l.what+l.name+intoOwn)
	case g.treeOf(to.path) == nil:
		if !same {
			g.aside(l.path, l.what+l.name)
		} else if l.has != "" && to.dir {
			g.reached(l, to.path)
			g.abroad(to.path)
		}
	case !to.dir || l.has == "":
	case g.stuck[identify(to.path)]:
		g.aside(l.path, l.what+l.name+", where something is still in effect")
	case !same && g.knew(to.path) && !g.expects(l, to.path):
		g.aside(l.path, l.what+l.name+", which belongs to another work tree")
	default:
		g.enter(l, to.path, same)
	}
}

// enter checks the directory in the trees that a file names, if git would use
// it.
func (g *gitDir) enter(l lead, dir string, same bool) {
	entries, err := g.treeOf(dir).entries(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		g.note(Finding{Path: dir, What: "a directory that " + l.path + " names, and that cannot be read", Err: err})
		if !same {
			g.stuck[identify(dir)] = true
		}
	}
	if slices.ContainsFunc(entries, func(e treescan.Entry) bool { return strings.EqualFold(e.Name, l.has) }) {
		g.reached(l, dir)
		g.enqueue(candidate{dir: g.dirAt(dir)})
	}
}

// reached notes where a file leads, for what settings name.
func (g *gitDir) reached(l lead, dir string) {
	if l.in != nil {
		g.use(l.in, g.dirAt(dir))
	} else {
		g.pass.commons[identify(g.path)] = g.dirAt(dir)
	}
}

// knew reports whether a git directory was there at the start.
func (s *Session) knew(dir string) bool { return s.known[identify("gitdir", dir)] }

// expects reports whether a git directory names the work tree, or is one of
// those that share the directory: git worktree and git submodule write both.
func (g *gitDir) expects(l lead, dir string) bool {
	if l.in == nil {
		return filepath.Dir(g.path) == join(dir, "worktrees")
	}
	t, path := g.treeOf(dir), l.in.Path()
	if filepath.Base(filepath.Dir(dir)) == "worktrees" {
		text, err := t.read(join(dir, "gitdir"))
		to, bad := t.resolve(dir, strings.TrimRight(string(text), "\r\n"))
		return err == nil && bad == nil && to.path == l.path
	}
	text, err := t.read(join(dir, "config"))
	mine := false
	if err == nil {
		_ = gitrepo.ParseConfig("", text, func(e gitrepo.Entry) error {
			if e.Key == "core.worktree" {
				to, err := t.resolve(dir, e.Value)
				mine = err == nil && to.path == path
			}
			return nil
		})
	}
	return mine
}

// readText reads a file that may lie outside of the trees.
func readText(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxText) {
		err = errKind
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, maxText))
}
