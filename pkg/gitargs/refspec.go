package gitargs

import (
	"cmp"
	"strings"

	"ethos/pkg/record"
)

const heads = "refs/heads/"

// parseRefspec splits [+]src[:dst] as refspec.c does. colon reports whether it contains a colon.
func parseRefspec(s string) (spec record.Refspec, colon bool) {
	s, spec.Force = strings.CutPrefix(s, "+")
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		spec.Src, spec.Dst, colon = s[:i], s[i+1:], true
		spec.Delete = spec.Src == "" && spec.Dst != ""
	} else {
		spec.Src = s
	}
	if spec.Src == "@" { // refspec.c: "@" alone is HEAD
		spec.Src = "HEAD"
	}
	return spec, colon
}

// branchName returns the short name of the branch that is the destination of a push, or "" for
// another kind of ref. A destination that is not qualified becomes a branch if a branch of that
// name exists, or if the source is a branch (remote.c, match_explicit), so a bare name counts as a
// branch.
func branchName(dst string) string {
	switch {
	case strings.HasPrefix(dst, heads):
		return dst[len(heads):]
	case strings.HasPrefix(dst, "refs/"), strings.HasPrefix(dst, "tags/"), strings.HasPrefix(dst, "remotes/"):
		return ""
	}
	return strings.TrimPrefix(dst, "heads/")
}

// mapGlob maps name by a refspec with one "*" on each side: refs/heads/*:refs/heads/x/*.
func mapGlob(spec record.Refspec, name string) (string, bool) {
	before, after, ok := strings.Cut(spec.Src, "*")
	if !ok {
		if spec.Src == name || heads+spec.Src == name {
			return cmp.Or(spec.Dst, name), true
		}
		return "", false
	}
	if len(name) < len(before)+len(after) || !strings.HasPrefix(name, before) || !strings.HasSuffix(name, after) {
		return "", false
	}
	return strings.Replace(cmp.Or(spec.Dst, spec.Src), "*", name[len(before):len(name)-len(after)], 1), true
}
