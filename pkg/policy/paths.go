package policy

import (
	"cmp"
	"net/netip"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"ethos/pkg/record"
)

func matchGlob(pattern, value string) (bool, error) { return doublestar.Match(pattern, value) }

// isUnder reports whether p is dir or lies below it, by text. Both are cleaned first; nothing lies
// under "".
func isUnder(p, dir string) bool {
	if p == "" || dir == "" {
		return false
	}
	p, dir = path.Clean(p), path.Clean(dir)
	switch {
	case p == dir:
		return true
	case dir == "/":
		return strings.HasPrefix(p, "/")
	case dir == ".":
		return !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~") && p != ".." && !strings.HasPrefix(p, "../")
	}
	return strings.HasPrefix(p, dir+"/")
}

// hits reports whether a path that a command names, which may be a glob, may match the pattern. The
// deletion or move of a directory hits everything below it.
func hits(pattern, named string, op string) (bool, error) {
	if !doublestar.ValidatePattern(pattern) {
		return false, doublestar.ErrBadPattern
	}
	for _, p := range alternatives(pattern) {
		if mayHit(p, named, op) {
			return true, nil
		}
	}
	return false, nil
}

// mayHit is hits for a well-formed pattern without braces.
func mayHit(pattern, named, op string) bool {
	if apart(pattern, named) {
		return false
	}
	return overlap(pattern, named) || (op == "delete" || op == "move") && holds(named, pattern)
}

// apart reports, at low cost, that a pattern and a named path cannot overlap. Every path that the
// pattern matches, and every directory above one except the roots, contains the first literal name
// of the pattern.
func apart(pattern, named string) bool {
	switch named {
	case "/", ".", "~", "..":
		return false
	}
	if len(named) > pathMax || strings.ContainsAny(named, "*?[") {
		return false
	}
	for name := range strings.SplitSeq(pattern, "/") {
		if name != "" && name != "~" && !strings.ContainsAny(name, "*?[") {
			return !strings.Contains(named, name)
		}
	}
	return false
}

// holds reports whether the named directory may contain a path that the pattern matches: it is the
// root from which the pattern starts, or it matches the beginning of the pattern up to a name. If a
// pattern may start anywhere, any directory may contain a match; then only the name counts.
func holds(named, pattern string) bool {
	if named == "." {
		return !strings.HasPrefix(pattern, "/") && !strings.HasPrefix(pattern, "~")
	}
	parts := strings.Split(pattern, "/")
	for i := 1; i < len(parts); i++ {
		if beginning := strings.Join(parts[:i], "/"); parts[i-1] != "**" && overlap(cmp.Or(beginning, "/"), named) {
			return true
		}
	}
	return false
}

// alternatives expands the braces of a pattern: a{b,c} is ab and ac. A pattern whose braces do not
// pair stays unchanged.
func alternatives(pattern string) []string {
	open := strings.IndexByte(pattern, '{')
	if open < 0 {
		return []string{pattern}
	}
	depth, start := 0, open+1
	var parts []string
	for i := open; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '{':
			depth++
		case c == ',' && depth == 1:
			parts, start = append(parts, pattern[start:i]), i+1
		case c == '}':
			if depth--; depth > 0 {
				continue
			}
			var all []string
			for _, part := range append(parts, pattern[start:i]) {
				all = append(all, alternatives(pattern[:open]+part+pattern[i+1:])...)
			}
			return all
		}
	}
	return []string{pattern}
}

// touchesUse reports whether what a command reads or writes may be among the patterns.
func touchesUse(u *record.PathUse, patterns []string) (bool, error) {
	for _, p := range patterns {
		if hit, err := hits(p, u.Path, u.Op); hit || err != nil {
			return hit, err
		}
	}
	return false, nil
}

// touchesFile compares every known name of a file.
func touchesFile(f *record.File, patterns []string) (bool, error) {
	for _, name := range namesOf(f) {
		for _, p := range patterns {
			if hit, err := hits(p, name, f.Op); hit || err != nil {
				return hit, err
			}
		}
	}
	return false, nil
}

// namesOf returns the names of a file: as written, within the work space, and the targets of its
// symbolic links.
func namesOf(f *record.File) []string {
	names := []string{f.Path}
	if f.WorkspaceRelative != "" && f.WorkspaceRelative != f.Path {
		names = append(names, f.WorkspaceRelative)
	}
	if f.Resolved != "" && f.Resolved != f.Path {
		names = append(names, f.Resolved)
	}
	return names
}

// pathMax is PATH_MAX of linux/limits.h. The kernel refuses a longer path, so such a path is not
// compared.
const pathMax = 4096

// overlap reports whether some path may match both a pattern without braces and the path that a
// command names, which may be a glob too. It errs on the side of true: a character class counts as
// any character, and a path longer than the kernel accepts counts as anything. As in the shell, a
// wildcard of the command does not match names that begin with a dot; one of the pattern does.
func overlap(pattern, named string) bool {
	if len(pattern) > pathMax || len(named) > pathMax {
		return true
	}
	for _, root := range []string{"/", "~"} {
		if strings.HasPrefix(pattern, root) && !strings.HasPrefix(named, root) {
			return false
		}
	}
	x, y := strings.Split(pattern, "/"), strings.Split(named, "/")
	return align(len(x), len(y),
		func(i int) bool { return x[i] == "**" },
		func(j int) bool { return y[j] == "**" },
		func(i int) bool { return !strings.HasPrefix(x[i], ".") },
		func(i, j int) bool { return nameOverlap(x[i], y[j]) })
}

// align reports whether two sequences with stars can match each other, where a star stands for any
// number of elements of the other sequence. takes says which elements of the first the second's
// stars may stand for. It takes time in proportion to n×m.
func align(n, m int, starX, starY, takes func(int) bool, same func(i, j int) bool) bool {
	next, row := make([]bool, m+1), make([]bool, m+1)
	for i := n; i >= 0; i-- {
		for j := m; j >= 0; j-- {
			switch {
			case i == n && j == m:
				row[j] = true
			case i < n && starX(i):
				row[j] = next[j] || j < m && row[j+1]
			case j < m && starY(j):
				row[j] = row[j+1] || i < n && takes(i) && next[j]
			default:
				row[j] = i < n && j < m && next[j+1] && same(i, j)
			}
		}
		next, row = row, next
	}
	return next[0]
}

// nameOverlap compares two names of one directory level.
func nameOverlap(pattern, named string) bool {
	switch {
	case pattern == named:
		return true
	case strings.HasPrefix(pattern, ".") && (strings.HasPrefix(named, "*") || strings.HasPrefix(named, "?")):
		return false
	case strings.Contains(named, "[") && strings.ContainsAny(named, "$`"): // part of an expansion
		return true
	}
	pattern, named = classless(pattern), classless(named)
	return align(len(pattern), len(named),
		func(i int) bool { return pattern[i] == '*' },
		func(j int) bool { return named[j] == '*' },
		func(int) bool { return true },
		func(i, j int) bool {
			return pattern[i] == '?' || named[j] == '?' || pattern[i] == class || named[j] == class || pattern[i] == named[j]
		})
}

// class replaces a character class, which counts as any one character.
const class = '\x01'

// classless replaces each character class by class. A class that is not closed counts as anything.
func classless(name string) string {
	if !strings.Contains(name, "[") {
		return name
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(name, "[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		end := -1
		if body := strings.TrimLeft(rest, "!^"); len(body) > 0 { // "]" may be the first character of a class
			if end = strings.IndexByte(body[1:], ']'); end >= 0 {
				end += 1 + len(rest) - len(body)
			}
		}
		if end < 0 || strings.ContainsAny(rest[:end], "[") { // [[:alpha:]]
			b.WriteByte('*')
			return b.String()
		}
		b.WriteByte(class)
		name = rest[end+1:]
	}
}

// matchDomain compares a host name with "example.com" (only itself) or "*.example.com" (any depth
// below it, but not itself). It ignores case and a trailing dot. An address matches only the same
// address.
func matchDomain(host, pattern string) bool {
	host, pattern = canonicalHost(host), canonicalHost(pattern)
	if host == "" {
		return false
	}
	if below, ok := strings.CutPrefix(pattern, "*."); ok {
		_, err := netip.ParseAddr(host)
		return err != nil && strings.HasSuffix(host, "."+below)
	}
	return host == pattern
}

func canonicalHost(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return addr.Unmap().String()
	}
	return host
}

func touchesOne(path any, patterns []string) (bool, error) {
	if file, ok := path.(*record.File); ok {
		return touchesFile(file, patterns)
	}
	return touchesUse(path.(*record.PathUse), patterns)
}
