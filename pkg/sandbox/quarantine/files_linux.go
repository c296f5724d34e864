package quarantine

import (
	"errors"
	"path/filepath"
	"strings"

	"ethos/pkg/gitargs"
	"ethos/pkg/gitrepo"
	"ethos/pkg/sandbox/treescan"
)

type place = treescan.Place

var errLarge = errors.New("larger than any that git writes")

// check judges a file by the table of checks.
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
		fault = checks[name](string(text))
	}
	if name == "HEAD" && err == nil && fault == "" && g.learning {
		g.heads[path] = string(text)
	}
	if fault != "" && !g.allowed("text", path, digest(text)) {
		g.aside(path, fault)
	}
}

// alternates are other directories of objects: gitrepository-layout(5). Outside of
// the trees they must exist, so that nobody can make them later.
func (g *gitDir) alternates(path, text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		to, err := g.tree.resolve(filepath.Dir(filepath.Dir(path)), line)
		if err != nil || to.missing && g.treeOf(to.path) == nil {
			return "objects of " + line
		}
	}
	return ""
}

// todo leaves out lines that run a command, but those that were there.
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

// index puts an index aside that git would be misled by, or would not read.
func (g *gitDir) index(path string) {
	f, info, err := g.tree.file(path)
	if err == nil {
		defer f.Close()
		if info.Size() == 0 { // git takes it for none
			return
		}
		_, err = checkIndex(f, g.hashSize(), info.Size())
	}
	if err != nil && !g.allowed("index", path, err.Error()) {
		g.aside(path, "an index: "+err.Error())
	}
}

// hashSize is the length of an object's name: extensions.objectFormat, which
// counts where it stands in the configuration that work trees share.
func (g *gitDir) hashSize() int {
	if g.hash > 0 {
		return g.hash
	}
	g.hash = 20
	common := g.path
	if text, err := g.text(join(g.path, "commondir")); err == nil {
		if to, err := g.tree.resolve(g.path, strings.TrimRight(string(text), "\r\n")); err == nil && to.dir {
			common = to.path
		}
	}
	text, err := readText(join(common, "config"))
	if err == nil {
		_ = gitrepo.ParseConfig("", text, func(e gitrepo.Entry) error {
			if e.Key == "extensions.objectformat" && e.Value == "sha256" {
				g.hash = 32
			}
			return nil
		})
	}
	return g.hash
}

// config leaves out the settings of a configuration that are not inert, but
// those that were there.
func (g *gitDir) config(path string) {
	if g.pass.seen[path] {
		return
	}
	g.pass.seen[path] = true
	text, err := g.text(path)
	if err != nil || strings.IndexByte(string(text), 0) >= 0 {
		if !g.allowed("config", path, digest(text)) || err != nil && !g.allowed("config", path, err.Error()) {
			g.aside(path, "a configuration that cannot be read")
		}
		return
	}
	var rest strings.Builder
	var out []string
	err = gitrepo.ParseConfig(path, text, func(e gitrepo.Entry) error {
		switch {
		case gitargs.Inert(e.Key, e.Value), e.Key == "core.worktree" && g.inTrees(e.Value):
			rest.WriteString(setting(e))
		case g.allowed("config", path, e.Key, e.Value):
			rest.WriteString(setting(e))
			g.follow(path, e)
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
		g.replace(path, strings.Join(out, ", "), text, []byte(rest.String()))
	case unusual(string(text)) && !g.allowed("config", path, digest(text)):
		g.replace(path, "a syntax that git does not write", text, []byte(rest.String()))
	}
}

// unusual reports whether a configuration has what programs that read git's
// configuration do not agree about: lines that go on, carriage returns, a byte
// order mark.
func unusual(text string) bool {
	return strings.Contains(text, "\\\n") || strings.Contains(text, "\r") || strings.HasPrefix(text, "\ufeff")
}

// inTrees reports whether core.worktree leads to a directory that the command
// could write to.
func (g *gitDir) inTrees(value string) bool {
	to, err := g.tree.resolve(g.path, value)
	return err == nil && g.writable(to.path)
}

// setting writes one setting as git-config(1) reads it.
func setting(e gitrepo.Entry) string {
	section, rest, _ := strings.Cut(e.Key, ".")
	sub, name := "", rest
	if i := strings.LastIndexByte(rest, '.'); i >= 0 {
		sub, name = rest[:i], rest[i+1:]
		sub = ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(sub) + `"`
	}
	line := "[" + section + sub + "]\n\t" + name
	if e.Bare {
		return line + "\n"
	}
	value := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(e.Value)
	return line + ` = "` + value + "\"\n"
}
