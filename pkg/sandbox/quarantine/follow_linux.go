package quarantine

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"ethos/pkg/gitargs"
	"ethos/pkg/gitrepo"
	"ethos/pkg/sandbox/treescan"
)

// names is what one pass collects about settings that name files: which there
// are, and in which directories git would look for those files.
type names struct {
	configs map[identifier]*configFile   // by path, those that name something
	files   map[identifier][]identifier  // the configurations of a git directory, by path
	commons map[identifier]*treescan.Dir // where a git directory's commondir leads, by path
	dirs    []*treescan.Dir              // git directories in the trees
	tops    []top                        // work trees that lead to a git directory elsewhere
	budget  int64                        // bytes that may still be read below directories of hooks
}

// top is a directory in which git runs what the settings of a git directory
// name: a work tree whose .git leads there, or that core.worktree names.
type top struct{ at, gitDir *treescan.Dir }

// configFile is what one configuration says, without what is inert.
type configFile struct {
	entries []gitrepo.Entry
	more    []identifier // included
}

func newNames() names {
	return names{configs: map[identifier]*configFile{}, files: map[identifier][]identifier{}, commons: map[identifier]*treescan.Dir{}, budget: maxRead}
}

// add keeps what a configuration says, if it says something.
func (n *names) add(id identifier, file *configFile) {
	if len(file.entries)+len(file.more) > 0 {
		n.configs[id] = file
	}
}

// belongs notes that a configuration is one of the git directory, or is included
// by one of those.
func (g *gitDir) belongs(id identifier) {
	if g.including != nil {
		g.including.more = append(g.including.more, id)
		return
	}
	dir := identify(g.path)
	g.pass.files[dir] = append(g.pass.files[dir], id)
}

// refers notes what a setting that was there at the start refers to, and checks
// further configuration.
func (g *gitDir) refers(in *configFile, file string, e gitrepo.Entry) {
	section, _, _ := strings.Cut(e.Key, ".")
	switch {
	case e.Key == "include.path", section == "includeif" && strings.HasSuffix(e.Key, ".path"):
		g.include(in, filepath.Dir(file), e.Value)
	case e.Key == "core.hookspath", gitargs.Executes(e.Key, e.Value):
		in.entries = append(in.entries, e)
	}
}

// include checks a configuration that another includes. What lies outside of the
// trees is only read.
func (g *gitDir) include(in *configFile, base, value string) {
	value = g.expand(value)
	if g.treeOf(base) == nil && !filepath.IsAbs(value) {
		value = base + "/" + value
	}
	to, err := g.tree.resolve(base, value)
	if err != nil || to.dir || to.missing {
		return
	}
	other := *g
	other.including, other.tree = in, g.treeOf(to.path)
	if other.tree != nil {
		other.config(to.path)
		return
	}
	other.tree = g.tree
	other.outside(to.path)
}

// outside reads a configuration that no command can write.
func (g *gitDir) outside(path string) {
	id := identify("config", path)
	if g.belongs(id); !g.pass.first("config", path) {
		return
	}
	text, err := readText(path)
	if err != nil {
		return // git cannot read it either
	}
	file := &configFile{}
	_ = gitrepo.ParseConfig(path, text, func(e gitrepo.Entry) error {
		g.refers(file, path, e)
		return nil
	})
	g.pass.names.add(id, file)
}

// abroad reads the settings of a git directory outside of the trees, to which a
// work tree in them has led before.
func (g *gitDir) abroad(dir string) {
	if !g.pass.first("abroad", dir) {
		return
	}
	other := &gitDir{Session: g.Session, tree: g.tree, path: dir}
	common := dir
	if text, err := readText(join(dir, "commondir")); err == nil {
		name := strings.TrimRight(string(text), "\r\n")
		if !filepath.IsAbs(name) {
			name = join(dir, name)
		}
		to, err := g.tree.resolve("", name)
		if err != nil || !to.dir {
			return
		}
		common = to.path
		g.pass.commons[identify(dir)] = g.dirAt(common)
	}
	other.outside(join(dir, "config.worktree"))
	if t := g.treeOf(common); t != nil {
		g.enqueue(candidate{dir: g.dirAt(common)})
		return
	}
	other.path = common
	other.outside(join(common, "config"))
}

// use notes that git is used with the git directory in a directory.
func (g *gitDir) use(at, gitDir *treescan.Dir) {
	g.pass.tops = append(g.pass.tops, top{at, gitDir})
}

// followAll checks what the settings name that were there at the start: the
// hooks and programs, as far as the command can change them. A path in them is
// relative to the top of the work tree or, without one, to the git directory.
func (s *Session) followAll() {
	if len(s.pass.configs) == 0 && len(s.scope.Person) == 0 {
		return
	}
	for _, dir := range s.pass.dirs {
		path := dir.Path()
		if strings.EqualFold(filepath.Base(path), ".git") {
			s.followAt(filepath.Dir(path), path)
		}
		s.followAt(path, path)
	}
	for _, u := range s.pass.tops {
		s.followAt(u.at.Path(), u.gitDir.Path())
	}
}

// followAt checks what the settings of a git directory name at a directory.
func (s *Session) followAt(at, dir string) {
	if s.treeOf(at) == nil {
		return
	}
	common := dir
	if to := s.pass.commons[identify(dir)]; to != nil {
		common = to.Path()
	}
	f := follower{gitDir: &gitDir{Session: s, tree: s.treeOf(at), path: dir}, at: at, common: common}
	seen := map[identifier]bool{}
	for _, of := range []string{dir, common} {
		for _, id := range s.pass.files[identify(of)] {
			f.file(id, seen)
		}
	}
	for _, e := range s.scope.Person {
		f.entry(e)
	}
}

// follower checks what settings name at one directory.
type follower struct {
	*gitDir
	at     string
	common string // the git directory whose settings they are
	word   string // what the setting names, as it is written
}

// file follows the settings of a configuration and of those that it includes.
func (f *follower) file(id identifier, seen map[identifier]bool) {
	config := f.pass.configs[id]
	if config == nil || seen[id] {
		return
	}
	seen[id] = true
	for _, e := range config.entries {
		f.entry(e)
	}
	for _, more := range config.more {
		f.file(more, seen)
	}
}

func (f *follower) entry(e gitrepo.Entry) {
	if e.Key == "core.hookspath" {
		to, ok := f.named(e.Value)
		if !ok || !to.dir {
			return
		}
		f.hooks(to.path, !within(f.at, to.path))
		if filepath.Base(to.path) == "_" { // husky: these run the scripts beside the directory
			f.word += "/.."
			f.hooks(filepath.Dir(to.path), false)
		}
		return
	}
	for word := range strings.FieldsSeq(strings.TrimPrefix(e.Value, "!")) {
		if to, ok := f.named(strings.Trim(word, `"';&|()`)); ok && !to.dir && !to.missing {
			f.program(to.path, "", 0, "a program that "+e.Key+" names")
		}
	}
}

// named returns the target of a path in a setting; ok reports whether it is to be
// checked: whether the command can change it or, at the start, whether a copy of
// it in another work tree could be compared with it.
func (f *follower) named(value string) (to target, ok bool) {
	f.word = f.expand(value)
	to, err := f.tree.resolve(f.at, f.word)
	return to, err == nil && f.treeOf(to.path) != nil && (f.learning || f.writable(to.path))
}

// expand replaces a leading "~/".
func (g *gitDir) expand(value string) string {
	if rest, ok := strings.CutPrefix(value, "~/"); ok && g.scope.Home != "" {
		return g.scope.Home + "/" + rest
	}
	return value
}

// hooks checks a directory of hooks in a work tree, if whole with all that is
// below it.
func (f *follower) hooks(dir string, whole bool) {
	entries, err := f.treeOf(dir).entries(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && whole {
		f.odd(dir, "a directory that cannot be read: "+err.Error())
	}
	for _, e := range entries {
		if e.Type != fs.ModeDir && !sample(e) || e.Type == fs.ModeDir && whole {
			f.program(join(dir, e.Name), e.Name, e.Type, "a hook")
		}
	}
}

// program checks what a setting names, or something below it: rel is its path
// there. In another work tree it may be what it was at the start in one that the
// person had: git worktree add makes such copies.
func (f *follower) program(path, rel string, typ fs.FileMode, what string) {
	other := *f.gitDir
	other.tree = f.treeOf(path)
	if typ == 0 && strings.Contains(rel, "/") && other.unread(path) {
		return
	}
	same := false
	if id := other.content(path, typ); id != "" && !filepath.IsAbs(f.word) {
		same = other.allowed("named", f.common, f.word, rel, id)
	}
	if !same || f.learning {
		other.program(path, typ, what)
	}
	if typ != fs.ModeDir || strings.Count(rel, "/") > maxDisarm {
		return
	}
	entries, err := other.tree.entries(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		other.odd(path, "a directory that cannot be read: "+err.Error())
	}
	for _, e := range entries {
		f.program(join(path, e.Name), rel+"/"+e.Name, e.Type, what)
	}
}

// maxRead bounds what is read at the start below directories of hooks, in bytes.
// Somebody may keep more than hooks there.
const maxRead = 32 << 20

// unread reports whether a file need not be read, because it was beyond that
// bound at the start: what the kernel changes with each write identifies it.
func (g *gitDir) unread(path string) bool {
	f, err := g.tree.file(path)
	if err != nil {
		return false
	}
	defer f.close()
	if g.learning {
		if g.pass.budget -= f.size; g.pass.budget >= 0 {
			return false
		}
		return g.allowed("unread", path, f.version())
	}
	return g.known[identify("unread", path, f.version())]
}

// content identifies what is at a path by what it would do anywhere; "" if that
// is not known.
func (g *gitDir) content(path string, typ fs.FileMode) string {
	switch typ {
	case fs.ModeDir:
		return kindOf(typ)
	case 0:
		return g.tree.sum(path) + g.modeOf(path)
	case fs.ModeSymlink:
		text, err := g.tree.link(path)
		to, bad := g.tree.resolve(filepath.Dir(path), filepath.Base(path))
		switch {
		case err != nil, bad != nil, to.missing, to.dir:
			return ""
		case g.treeOf(to.path) == nil:
			return fmt.Sprint("link ", text, to.path)
		}
		return "link " + text + g.treeOf(to.path).sum(to.path)
	}
	return ""
}
