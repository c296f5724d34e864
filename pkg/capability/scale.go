package capability

import "slices"

// A scale is the values of a field, narrowest first; "" is no statement and gives way to any other.
type scale []string

// The values of the fields that are ordered.
var (
	networks = scale{"none", "loopback", "proxy", "host"}
	gits     = scale{"none", "read", "wrapped", "full"}
	enforces = scale{"cgroup", "available"}
)

// rank of an unknown value is past the widest, so that it never counts as narrow.
func (s scale) rank(v string) int {
	if i := slices.Index(s, v); i >= 0 {
		return i
	}
	if v == "" {
		return len(s)
	}
	return len(s) + 1
}

func (s scale) meet(a, b string) string {
	if s.rank(b) < s.rank(a) {
		return b
	}
	return a
}

func (s scale) widens(parent, child string) bool { return s.rank(child) > s.rank(parent) }
