package quarantine

import (
	"fmt"
	"path/filepath"
	"strings"

	"ethos/pkg/gitargs"
	"ethos/pkg/gitrepo"
	"ethos/pkg/lazy"
)

// check checks a file by the table of checks.
func (g *gitDir) check(part, path string) {
	name := filepath.Base(path)
	if part != "" {
		name = part + "/" + name
	}
	text, err := g.text(path)
	fault := ""
	switch {
	case err != nil:
		fault = "it cannot be read: " + err.Error()
	case name == "objects/info/alternates":
		fault = g.alternates(path, string(text))
	default:
		fault = checks.Get()[name](string(text))
	}
	if name == "HEAD" && err == nil && fault == "" && g.learning && len(text) <= maxHead {
		g.heads[identify(path)] = string(text)
	}
	if fault != "" && !g.allowed("text", path, digest(text)) {
		g.aside(path, fault)
	}
}

// maxHead bounds the text of a HEAD file that is kept for every repository, in
// bytes: the name of a branch.
const maxHead = 1 << 10

// alternates checks a list of alternate object directories:
// gitrepository-layout(5). Directories outside of the trees must exist, so that
// nobody can create them later. Git runs in the repository around each.
func (g *gitDir) alternates(path, text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		to, err := g.tree.resolve(filepath.Dir(filepath.Dir(path)), line)
		switch {
		case err == nil && g.owned(to.path) && !g.owned(path):
			g.remove(path, "objects of "+line+intoOwn)
			return ""
		case err != nil, line[0] == '"', to.missing && g.treeOf(to.path) == nil: // git reads what is quoted as a C string
			return "objects of " + line
		}
	}
	return ""
}

// todo removes the lines of a todo list that run a command, except for lines
// that were there at the start.
func (g *gitDir) todo(path string) {
	text, err := g.text(path)
	if err != nil {
		g.odd(path, "it cannot be read: "+err.Error())
		return
	}
	rest, out := todo(string(text), func(line string) bool { return g.allowed("todo", g.path, strings.TrimSpace(line)) })
	if len(out) > 0 {
		g.replace(path, strings.Join(out, "; "), text, []byte(rest))
	}
}

// index quarantines an index that would mislead git, or that git would not
// read.
func (g *gitDir) index(path string) {
	f, err := g.tree.file(path)
	if err == nil {
		defer f.close()
		if f.size == 0 { // git ignores it
			return
		}
		_, err = checkIndex(f, g.hashSize(), f.size)
	}
	if err != nil && !g.allowed("index", path, err.Error()) {
		g.aside(path, "an index: "+err.Error())
	}
}

// hashSize returns the length of an object name in bytes. It follows
// extensions.objectFormat, which counts only in the configuration that the work
// trees share.
func (g *gitDir) hashSize() int {
	if g.hash > 0 {
		return g.hash
	}
	g.hash = sha1Size
	common := g.path
	if text, err := g.text(join(g.path, "commondir")); err == nil {
		if to, err := g.tree.resolve(g.path, strings.TrimRight(string(text), "\r\n")); err == nil && to.dir {
			common = to.path
		}
	}
	text, err := readText(join(common, "config"))
	if err == nil {
		_ = gitrepo.ParseConfig("", text, func(e gitrepo.Entry) error {
			g.hash = format(e, g.hash)
			return nil
		})
	}
	return g.hash
}

// sha1Size is the length of an object name in git's default format, in bytes.
const sha1Size = 20

// format returns the length of an object name after applying a setting.
func format(e gitrepo.Entry, hash int) int {
	if e.Key == "extensions.objectformat" && e.Value == "sha256" {
		return 32
	}
	return hash
}

// config removes the settings of a configuration that are not inert, except for
// settings that were there at the start.
func (g *gitDir) config(path string) {
	id := identify("config", path)
	if g.belongs(id); !g.pass.first("config", path) {
		return
	}
	file := &configFile{}
	defer g.pass.names.add(id, file)
	text, err := g.text(path)
	if err != nil || strings.IndexByte(string(text), 0) >= 0 {
		if !g.allowed("config", path, digest(text)) || err != nil && !g.allowed("config", path, err.Error()) {
			g.aside(path, "a configuration that cannot be read")
		}
		return
	}
	var kept []gitrepo.Entry
	var out []string
	lazy := promisorsIn(text)
	hash := sha1Size
	err = gitrepo.ParseConfig(path, text, func(e gitrepo.Entry) error {
		hash = format(e, hash)
		switch remote := lazy.of(e); {
		case remote != "":
			if where, plain := lazy.lead(remote); !plain && !g.allowed("promisor", path, e.Key, e.Value, where) {
				out = append(out, e.Key)
				return nil
			}
			kept = append(kept, e)
		case gitargs.Inert(e.Key, e.Value) && !misplaced(path, e.Key), e.Key == "core.worktree" && g.ownWorkTree(path, e.Value):
			kept = append(kept, e)
		case e.Key != "core.worktree" && g.allowed("config", path, e.Key, e.Value):
			kept = append(kept, e)
			g.refers(file, path, e)
		default:
			out = append(out, e.Key)
		}
		return nil
	})
	switch {
	case err != nil:
		if !g.allowed("config", path, digest(text)) {
			g.aside(path, "a configuration that cannot be read: "+err.Error())
		}
	case len(out) > 0:
		g.replace(path, strings.Join(out, ", "), text, written(kept))
	case unusual(string(text)) && !g.allowed("config", path, digest(text)):
		g.replace(path, "a syntax that git does not write", text, written(kept))
	case g.sole && path == join(g.path, "config"): // it stays as it is
		g.hash = hash
	}
}

// unusual reports whether a configuration has constructs that programs
// interpret differently: continuation lines, carriage returns, a byte order
// mark.
func unusual(text string) bool {
	return strings.Contains(text, "\\\n") || strings.Contains(text, "\r") || strings.HasPrefix(text, "\ufeff")
}

// ownWorkTree reports whether core.worktree leads to the work tree of this git
// directory: one whose .git names this directory. git submodule writes both. In
// any other directory git would overwrite files on checkout: hooks, settings,
// or the sources of another project. A value that was there at the start stays
// allowed if it leads to the same directory.
func (g *gitDir) ownWorkTree(config, value string) bool {
	to, err := g.tree.resolve(g.path, value)
	mine := err == nil && to.dir && g.writable(to.path) && g.namedBy(to.path)
	if !mine && !g.allowed("worktree", config, value, fmt.Sprint(to, err)) {
		return false
	}
	if err == nil && g.treeOf(to.path) != nil {
		g.use(g.dirAt(to.path), g.dirAt(g.path))
	}
	return true
}

// namedBy reports whether the .git of a work tree is this git directory, or a
// file that names it.
func (g *gitDir) namedBy(worktree string) bool {
	t := g.treeOf(worktree)
	dotGit := join(worktree, ".git")
	if dotGit == g.path {
		return true
	}
	f, err := t.file(dotGit)
	if err != nil {
		return false
	}
	defer f.close()
	text, err := f.text(maxGitFile + 1)
	if len(text) > maxGitFile {
		return false
	}
	name, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
	if err != nil || !ok {
		return false
	}
	to, err := t.resolve(worktree, name)
	return err == nil && to.path == g.path
}

// written returns a configuration with the given settings.
func written(list []gitrepo.Entry) []byte {
	var text strings.Builder
	for _, e := range list {
		text.WriteString(setting(e))
	}
	return []byte(text.String())
}

// setting returns one setting in the syntax of git-config(1).
func setting(e gitrepo.Entry) string {
	section, rest, _ := strings.Cut(e.Key, ".")
	sub, name := "", rest
	if i := strings.LastIndexByte(rest, '.'); i >= 0 {
		sub, name = rest[:i], rest[i+1:]
		sub = ` "` + quotedSubsection.Get().Replace(sub) + `"`
	}
	line := "[" + section + sub + "]\n\t" + name
	if e.Bare {
		return line + "\n"
	}
	return line + ` = "` + quotedValue.Get().Replace(e.Value) + "\"\n"
}

// The characters that git-config(1) escapes in double quotes.
var (
	quotedSubsection = lazy.Value[*strings.Replacer]{Make: func() *strings.Replacer { return strings.NewReplacer(`\`, `\\`, `"`, `\"`) }}
	quotedValue      = lazy.Value[*strings.Replacer]{Make: func() *strings.Replacer {
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`)
	}}
)
