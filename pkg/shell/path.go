package shell

import (
	"path"
	"strings"

	"ethos/pkg/record"
)

// The values of [record.PathUse.Op].
const (
	opRead     = "read"
	opWrite    = "write"
	opAppend   = "append"
	opCreate   = "create"
	opTruncate = "truncate"
	opDelete   = "delete"
	opMove     = "move"
	opMode     = "mode"
	opLink     = "link"
)

// use is a path that a command reads or writes, and where it truly lies.
type use struct {
	record.PathUse
	absolute string
}

type useKey struct {
	path, by, op string
	certain      bool
	write        bool
}

func (a *analysis) read(p target, by string) {
	if p.shown != "/dev/stdin" {
		a.note(&a.reads, p, by, opRead, false)
	}
}

func (a *analysis) write(p target, by, op string) { a.note(&a.writes, p, by, op, true) }

func (a *analysis) note(uses *[]use, p target, by, op string, write bool) {
	if harmless(p.shown) || p.shown == "" {
		return
	}
	key := useKey{p.shown, by, op, p.certain, write}
	if _, seen := a.usesSeen[key]; seen || a.halted {
		return
	}
	if a.usesSeen == nil {
		a.usesSeen = make(map[useKey]struct{}, 8)
	}
	a.usesSeen[key] = struct{}{}
	a.size += 60 + len(p.shown) + len(by)
	if len(*uses) >= maxUses || a.size > maxFacts {
		a.halt()
		return
	}
	*uses = append(*uses, use{record.PathUse{Path: p.shown, By: by, Op: op, Certain: p.certain}, p.absolute})
}

func paths(uses []use) ([]record.PathUse, []string) {
	shown, absolute := make([]record.PathUse, len(uses)), make([]string, len(uses))
	for i, u := range uses {
		shown[i], absolute[i] = u.PathUse, u.absolute
	}
	return shown, absolute
}

// target is a path as it is shown, and as it is.
type target struct {
	shown    string
	absolute string // with its ".." kept: a symbolic link may stand before them; "" when unknown
	certain  bool
}

// locate finds the path that a word names in directory d.
func (c *walker) locate(f field, d dir) target {
	text := strings.ToValidUTF8(f.text, "\uFFFD")
	certain := f.static() && !f.many
	switch {
	case text == "":
		return target{}
	case f.home:
		return target{shown: cleanHome(text), certain: certain}
	case !certain && startsDynamic(text):
		return target{shown: text}
	case strings.HasPrefix(text, "/"):
		return c.settle(text, certain)
	case d.path == "":
		return target{shown: path.Clean(text)}
	case !strings.HasPrefix(d.path, "/"):
		return target{shown: path.Join(d.path, text)}
	}
	return c.settle(d.path+"/"+text, certain && !d.unknown)
}

// startsDynamic reports whether what is not static stands where it decides whether the path is absolute.
func startsDynamic(text string) bool {
	return strings.HasPrefix(text, "$") || strings.HasPrefix(text, "{}") || strings.HasPrefix(text, "`") || strings.HasPrefix(text, "<(") || strings.HasPrefix(text, ">(")
}

// settle shows an absolute path as the record wants it: from the work space or the home directory, whichever is nearer.
func (c *walker) settle(absolute string, certain bool) target {
	absolute = c.followed(absolute)
	clean := path.Clean(absolute)
	t := target{shown: clean, certain: certain}
	if certain {
		t.absolute = absolute
	}
	fromHome, atHome := under(clean, c.opt.Home)
	rel, inside := under(clean, c.opt.Workspace)
	switch {
	case atHome && fromHome == "." && (!inside || rel != "."):
		t.shown = "~"
	case atHome && (!inside || len(fromHome) < len(rel)):
		t.shown = "~/" + fromHome
	case inside:
		if t.shown = rel; rel != "" && strings.IndexByte("~$`", rel[0]) >= 0 {
			t.shown = "./" + rel
		}
	}
	return t
}

// under is clean relative to root, when it lies there.
func under(clean, root string) (string, bool) {
	switch root = path.Clean(root); {
	case root == "." || root == "/":
		return "", false
	case clean == root:
		return ".", true
	}
	rel, ok := strings.CutPrefix(clean, root+"/")
	return rel, ok
}

// cleanHome cleans a path that begins with ~ or ~name, which is not to be cleaned away.
func cleanHome(text string) string {
	head, rest, found := strings.Cut(text, "/")
	if !found || rest == "" {
		return head
	}
	rest = path.Clean(rest)
	if rest == "." {
		return head
	}
	return head + "/" + rest
}

// link is a symbolic link that the script makes: absolute paths.
type link struct{ name, to string }

// keepLink remembers a symbolic link.
func (c *walker) keepLink(to field, name target) {
	if name.absolute == "" || !to.static() || to.many || to.glob || to.home || to.text == "" || len(c.links) >= maxLinks {
		return
	}
	clean := path.Clean(name.absolute)
	text := to.text
	if !strings.HasPrefix(text, "/") {
		text = path.Dir(clean) + "/" + text
	}
	c.links = append([]link{{clean, path.Clean(text)}}, c.links...)
}

// maxLinks bounds the links of one script, and the links on the way to one path.
const maxLinks = 20

// followed is an absolute path without the links of the script that it leads
// through. A link at its end stays: to remove it is not to remove what it is to.
func (c *walker) followed(absolute string) string {
	for range min(len(c.links), maxLinks) {
		before := absolute
		for _, l := range c.links {
			if rest, ok := strings.CutPrefix(absolute, l.name+"/"); ok {
				absolute = strings.TrimSuffix(l.to, "/") + "/" + rest
				break
			}
		}
		if absolute == before {
			break
		}
	}
	return absolute
}

// read notes a file that is read, and what it is a link of the script's to.
func (c *walker) read(p target, by string) {
	c.analysis.read(p, by)
	for _, l := range c.links {
		if p.absolute != "" && path.Clean(p.absolute) == l.name {
			c.analysis.read(c.settle(l.to, p.certain), by)
			break
		}
	}
}

// harmless are the paths that lead to no file: what is written there is gone, or goes where output goes anyway.
func harmless(clean string) bool {
	rest, ok := strings.CutPrefix(clean, "/dev/")
	if !ok {
		return false
	}
	switch rest {
	case "null", "stdout", "stderr", "tty":
		return true
	}
	n, ok := strings.CutPrefix(rest, "fd/")
	if !ok {
		n, ok = strings.CutPrefix(rest, "pts/")
	}
	return ok && n != "" && strings.Trim(n, "0123456789") == ""
}

// cwd is the directory a command runs in, or "" when it is not known.
func (c *walker) cwd(inv invocation) string {
	d := c.dirOf(inv)
	if d.unknown || !strings.HasPrefix(d.path, "/") {
		return ""
	}
	return path.Clean(d.path)
}

func (c *walker) dirOf(inv invocation) dir {
	if inv.dir != nil {
		return *inv.dir
	}
	return c.scope.dir()
}

// enterDir is directory f, seen from d.
func (c *walker) enterDir(f field, d dir) dir {
	text := f.text
	switch {
	case f.home:
		return dir{path: text, unknown: true}
	case !f.static() || f.glob || f.many:
		if !strings.HasPrefix(text, "/") && !startsDynamic(text) && d.path != "" {
			text = d.path + "/" + text
		}
		return dir{path: text, unknown: true}
	case strings.HasPrefix(text, "/"):
		return dir{path: path.Clean(text)}
	case d.path == "":
		return dir{path: text, unknown: true}
	}
	return dir{path: path.Join(d.path, text), unknown: d.unknown}
}
