package policy

import (
	"path"
	"strings"

	"ethos/pkg/protected"
)

// namesAny reports whether a word of a command names a path among the patterns. "~/" in a pattern
// stands for the home directory of any user.
func namesAny(patterns []string, word string) (bool, error) {
	named := pathIn(word)
	if named == "" {
		return false, nil
	}
	inHome, home := protected.BelowHome(named)
	for _, pattern := range patterns {
		below, value := pattern, named
		if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
			if !home {
				continue
			}
			below, value = rest, inHome
		}
		if unlike(below, value) {
			continue
		}
		if hit, err := matchGlob(below, value); hit || err != nil {
			return hit, err
		}
	}
	return false, nil
}

// pathIn returns the path that a word has by itself, after "@", or as the value of an option or
// variable: ~/x of "~/x", "-v~/x:/y", "--file=~/x" and "name=@~/x;type=y". It returns "" if the word
// has none.
func pathIn(word string) string {
	slash := strings.IndexAny(word, "/~")
	if slash < 0 || len(word) > pathMax {
		return ""
	}
	start := strings.LastIndexAny(word[:slash], "=@") + 1
	if start == 0 && slash == len("-v") && word[0] == '-' {
		start = slash
	}
	named := word[start:]
	if end := strings.IndexAny(named, ":,;"); end >= 0 {
		named = named[:end]
	}
	if named == "" {
		return ""
	}
	return path.Clean(named)
}

// unlike reports, at low cost, that a pattern does not match a value: it begins otherwise, or the
// value lacks a name of it.
func unlike(pattern, value string) bool {
	literal := pattern
	if end := strings.IndexAny(pattern, `*?[{\`); end >= 0 {
		literal = strings.TrimSuffix(pattern[:end], "/") // "/**" also matches nothing
	}
	if !strings.HasPrefix(value, literal) {
		return true
	}
	name, found := strings.CutPrefix(pattern, "/**/")
	if !found {
		return false
	}
	name, _, _ = strings.Cut(name, "/")
	return !strings.ContainsAny(name, `*?[{\`) && !strings.Contains(value, name)
}
