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
	opMount    = "mount" // a container can write there
)

// use is a path that a command reads or writes, and its real location.
type use struct {
	record.PathUse
	absolute string
}

type useKey struct {
	path, by, op string
	certain      bool
	write, whole bool
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
	key := useKey{p.shown, by, op, p.certain, write, p.whole}
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
	*uses = append(*uses, use{record.PathUse{Path: p.shown, By: by, Op: op, Certain: p.certain, Whole: p.whole}, p.absolute})
}

func paths(uses []use) ([]record.PathUse, []string) {
	shown, absolute := make([]record.PathUse, len(uses)), make([]string, len(uses))
	for i, u := range uses {
		shown[i], absolute[i] = u.PathUse, u.absolute
	}
	return shown, absolute
}

// target is a path in the form that is shown, and its absolute form.
type target struct {
	shown    string
	absolute string // with its ".." kept, because a symbolic link may precede them; "" if unknown
	certain  bool
	whole    bool // everything below it
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

// startsDynamic reports whether the beginning of a word is not static, so that it is unknown
// whether the path is absolute.
func startsDynamic(text string) bool {
	return strings.HasPrefix(text, "$") || strings.HasPrefix(text, "{}") || strings.HasPrefix(text, "`") || strings.HasPrefix(text, "<(") || strings.HasPrefix(text, ">(")
}

// settle converts an absolute path to the form of a record: relative to the work space or the home
// directory, whichever is nearer.
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

// under returns clean relative to root, if it lies there.
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

// cleanHome cleans a path that begins with ~ or ~name, and keeps this beginning.
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

// link is a symbolic link that the script creates; both paths are absolute.
type link struct{ name, to string }

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

// maxLinks limits the links that one script creates, and the links that one path leads through.
const maxLinks = 20

// followed resolves the links that the script creates in an absolute path. It does not follow a
// link in the last component, because removing the link does not remove its target.
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

// linked returns the target of a link that the script creates.
func (c *walker) linked(name string) (to string, ok bool) {
	for _, l := range c.links {
		if l.name == name {
			return l.to, true
		}
	}
	return "", false
}

// read records a file that is read and, if it is a link that the script creates, the link's target.
func (c *walker) read(p target, by string) {
	c.analysis.read(p, by)
	if to, ok := c.linked(path.Clean(p.absolute)); ok {
		c.analysis.read(c.settle(to, p.certain), by)
	}
}

// write records a file that is written and, if it is a link that the script creates, the link's
// target. What deletes, moves or replaces a name changes the link itself.
func (c *walker) write(p target, by, op string) {
	c.analysis.write(p, by, op)
	if p.absolute == "" {
		return
	}
	name := path.Clean(p.absolute)
	c.altered(name, op)
	switch to, ok := c.linked(name); {
	case !ok, op == opDelete, op == opMove, op == opLink, by == "mv", by == "install", by == "ln":
	default:
		c.analysis.write(c.settle(to, p.certain), by, op)
	}
}

// harmless reports whether a path leads to no file: what is written there is discarded, or goes
// where output goes anyway.
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

// cwd returns the directory a command runs in, or "" if it is unknown.
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
