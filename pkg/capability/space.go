package capability

import (
	"path"
	"strings"
)

// Space says what relative paths and "~" mean. An empty field leaves such paths
// uncomparable with absolute ones, and then they are treated as apart for
// grants and as overlapping for denies.
type Space struct {
	Workspace string // absolute
	Home      string // absolute
}

// Anywhere stands for any work space and home when sets are compared that
// belong to none: neither lies in the other.
var Anywhere = Space{Workspace: "/\x00workspace", Home: "/\x00home"}

// location is a declared path made comparable.
type location struct {
	text   string // as declared
	key    string // absolute path; for an opaque one the text without its "?"
	opaque bool   // holds a variable, or stands under a root that is not known
}

func (s Space) location(text string) location {
	p := location{text: text, key: strings.TrimSuffix(text, "?")}
	switch {
	case strings.Contains(p.key, "$"):
		p.opaque = true
	case strings.HasPrefix(p.key, "/"):
		p.key = path.Clean(p.key)
	case p.key == "~" || strings.HasPrefix(p.key, "~/"):
		p.key, p.opaque = under(s.Home, p.key[1:], "~")
	default:
		p.key, p.opaque = under(s.Workspace, p.key, ".")
	}
	return p
}

// under puts rest below root; without a root the key keeps its own mark, so
// that it equals nothing else.
func under(root, rest, mark string) (string, bool) {
	if root == "" {
		return path.Join(mark, rest), true
	}
	return path.Join(root, rest), false
}

func (s Space) locations(texts []string) []location {
	out := make([]location, len(texts))
	for i, t := range texts {
		out[i] = s.location(t)
	}
	return out
}

// covers reports that q is p or lies below it.
func (p location) covers(q location) bool {
	if p.opaque || q.opaque {
		return p.key == q.key
	}
	return p.key == q.key || p.key == "/" || strings.HasPrefix(q.key, p.key+"/")
}

// depth orders entries by how specific they are.
func (p location) depth() int {
	if p.key == "/" {
		return 0
	}
	return strings.Count(p.key, "/")
}
