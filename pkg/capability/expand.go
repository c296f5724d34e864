package capability

import (
	"fmt"
	"strings"
)

// Path is a declared path in absolute form.
type Path struct {
	Name     string // absolute and clean; symbolic links are not followed
	Declared string // as it was written
	Optional bool   // may be missing
}

// Expand makes declared paths absolute: getenv gives the values of ${VAR} and ${VAR:-default}, and
// s the bases of "~" and of relative paths. A path that depends on a variable is optional. If a
// path stays relative, or a variable has neither a value nor a default, the error names the path.
//
// GOPATH may list several directories. The first is used, as the go command does for its module
// cache.
func Expand(s Space, getenv func(string) string, declared []string) ([]Path, error) {
	out := make([]Path, 0, len(declared))
	for _, text := range declared {
		p, err := expandOne(s, getenv, text)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func expandOne(s Space, getenv func(string) string, text string) (Path, error) {
	bare := strings.TrimSuffix(text, "?")
	p := Path{Declared: text, Optional: bare != text || strings.Contains(bare, "${")}
	name, err := substitute(getenv, bare, 0)
	if err != nil {
		return p, fmt.Errorf("path %s: %w", text, err)
	}
	at := s.location(name)
	if p.Name = at.key; at.opaque || !strings.HasPrefix(at.key, "/") {
		return p, fmt.Errorf("path %s: the directory it is relative to is not known", text)
	}
	return p, nil
}

// maxNesting limits the depth of ${A:-${B:-…}}.
const maxNesting = 8

// substitute replaces ${NAME} and ${NAME:-default}; a default may contain variables. An empty value
// counts as none, as in the shell.
func substitute(getenv func(string) string, text string, depth int) (string, error) {
	start := strings.Index(text, "${")
	if start < 0 {
		return text, nil
	}
	end := closing(text[start:])
	if end < 0 || depth > maxNesting {
		return "", fmt.Errorf("the variable at %q is not closed", text[start:])
	}
	name, fallback, hasFallback := strings.Cut(text[start+2:start+end], ":-")
	value := firstOfList(name, getenv(name))
	if value == "" && !hasFallback {
		return "", fmt.Errorf("%s is not set", name)
	}
	if value == "" {
		var err error
		if value, err = substitute(getenv, fallback, depth+1); err != nil {
			return "", err
		}
	}
	rest, err := substitute(getenv, text[start+end+1:], depth)
	return text[:start] + value + rest, err
}

// firstOfList returns the first directory of a variable that may list several.
func firstOfList(name, value string) string {
	if name != "GOPATH" {
		return value
	}
	first, _, _ := strings.Cut(value, ":")
	return first
}

// closing returns the index of the brace that closes the variable at the start of text, or -1.
func closing(text string) int {
	depth := 0
	for i := range len(text) {
		switch {
		case strings.HasPrefix(text[i:], "${"):
			depth++
		case text[i] == '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}
