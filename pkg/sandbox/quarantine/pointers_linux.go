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

	"ethos/pkg/gitargs"
	"ethos/pkg/gitrepo"
	"ethos/pkg/sandbox/treescan"
)

// maxGitFile is the limit in setup.c, read_gitfile_gently, in bytes.
const maxGitFile = 1 << 20

// gitFile checks a file named .git. A file that git does not accept as such
// leads nowhere.
func (g *gitDir) gitFile(path string) {
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
	g.leads(path, name, "a .git file to ", "head")
}

// commonDir checks the file commondir: gitrepository-layout(5).
func (g *gitDir) commonDir(path string) {
	text, err := g.text(path)
	if err != nil {
		g.odd(path, "a file commondir that cannot be read: "+err.Error())
		return
	}
	g.leads(path, strings.TrimRight(string(text), "\r\n"), "a file commondir to ", "objects")
}

// workTree checks the file gitdir of a linked work tree. git worktree repair
// writes to the path in it.
func (g *gitDir) workTree(path string) {
	text, err := g.text(path)
	if err != nil {
		g.odd(path, "a file gitdir that cannot be read: "+err.Error())
		return
	}
	g.leads(path, strings.TrimRight(string(text), "\r\n"), "a work tree at ", "")
}

// leads checks a file that names a directory. The directory must lie in the
// trees, or be the one named at the start. If it contains the entry has, git
// would use it, and it is checked.
func (g *gitDir) leads(path, name, what, has string) {
	to, err := g.tree.resolve(filepath.Dir(path), name)
	if err != nil || strings.ContainsAny(name, "\r\n") {
		if !g.allowed("leads", path, name) {
			g.aside(path, what+name)
		}
		return
	}
	if g.treeOf(to.path) == nil {
		if !g.allowed("leads", path, name, to.path) {
			g.aside(path, what+name)
		}
		return
	}
	if !to.dir || has == "" {
		return
	}
	entries, err := g.treeOf(to.path).entries(to.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		g.note(Finding{Path: to.path, What: "a directory that " + path + " names, and that cannot be read", Err: err})
	}
	if slices.ContainsFunc(entries, func(e treescan.Entry) bool { return strings.EqualFold(e.Name, has) }) {
		g.enqueue(candidate{dir: g.dirAt(to.path)})
	}
}

// follow checks what an existing setting refers to, if the command can change
// it: further configuration, hooks, and programs by name.
func (g *gitDir) follow(file string, e gitrepo.Entry) {
	section, _, _ := strings.Cut(e.Key, ".")
	switch {
	case e.Key == "include.path", section == "includeif" && strings.HasSuffix(e.Key, ".path"):
		if to, ok := g.named(filepath.Dir(file), e.Value); ok && !to.dir && !to.missing {
			other := *g
			other.tree = g.treeOf(to.path)
			other.config(to.path)
		}
	case e.Key == "core.hookspath":
		to, ok := g.named(g.top(), e.Value)
		if !ok || !to.dir {
			return
		}
		g.hooks(to.path)
		if filepath.Base(to.path) == "_" { // husky: these run the scripts beside the directory
			g.hooks(filepath.Dir(to.path))
		}
	case gitargs.Executes(e.Key, e.Value):
		for word := range strings.FieldsSeq(strings.TrimPrefix(e.Value, "!")) {
			word = strings.Trim(word, `"';&|()`)
			if to, ok := g.named(g.top(), word); ok && !to.dir && !to.missing {
				other := *g
				other.tree = g.treeOf(to.path)
				other.program(to.path, 0, "a program that "+e.Key+" names")
			}
		}
	}
}

// hooks checks a hooks directory in a work tree.
func (g *gitDir) hooks(path string) {
	other := *g
	other.tree = g.treeOf(path)
	entries, err := other.tree.entries(path)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.Type != fs.ModeDir {
			other.hook(join(path, e.Name), e)
		}
	}
}

// top returns the directory in which git starts hooks and programs: the work
// tree.
func (g *gitDir) top() string {
	if filepath.Base(g.path) == ".git" {
		return filepath.Dir(g.path)
	}
	return g.path
}

// named returns the target of a path in a configuration; ok reports whether the
// command can change it.
func (g *gitDir) named(base, value string) (target, bool) {
	if rest, ok := strings.CutPrefix(value, "~/"); ok && g.scope.Home != "" {
		value = g.scope.Home + "/" + rest
	}
	if t := g.treeOf(base); t != nil {
		to, err := t.resolve(base, value)
		return to, err == nil && g.writable(to.path)
	}
	return target{}, false
}

// setting checks a file or directory whose name decides what runs outside. rel
// is its path relative to the directory in which that name stands.
func (s *Session) setting(t *tree, path, rel string, typ fs.FileMode) {
	if typ != fs.ModeDir && s.scope.Runs != nil && !s.scope.Runs(rel, path == join(t.path, rel)) {
		return
	}
	g := &gitDir{Session: s, tree: t, path: path}
	switch typ {
	case 0:
		if !s.allowed("setting", path, t.sum(path)) {
			g.aside(path, "settings that apply outside of the sandbox")
		}
	case fs.ModeDir:
		entries, err := t.entries(path)
		if err != nil {
			s.note(Finding{Path: path, What: "settings that cannot be read", Err: err})
		}
		for _, e := range entries {
			s.setting(t, join(path, e.Name), rel+"/"+e.Name, e.Type)
		}
	case fs.ModeSymlink:
		if to, err := t.link(path); err != nil || !s.allowed("setting", path, to) {
			g.aside(path, "settings that apply outside of the sandbox, a link to "+to)
		}
	default:
		g.odd(path, kindOf(typ))
	}
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
