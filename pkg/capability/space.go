package capability

import (
	"path"
	"strings"
)

// Space gives the meaning of relative paths and "~". If a field is empty, such paths cannot be
// compared with absolute ones. They then count as disjoint for grants and as overlapping for
// denies.
type Space struct {
	Workspace string // absolute
	Home      string // absolute
}

// Anywhere stands for any work space and home when sets that belong to none are compared. Neither
// lies in the other.
var Anywhere = Space{Workspace: "/\x00workspace", Home: "/\x00home"}

// location is a declared path in comparable form.
type location struct {
	text   string // as declared
	key    string // absolute path; for an opaque one the text without its "?"
	opaque bool   // contains a variable, or is under an unknown root
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

// under joins root and rest. Without a root the key keeps mark, so that it equals nothing else.
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

// covers reports whether q is p or lies below it.
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
