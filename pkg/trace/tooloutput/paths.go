package tooloutput

import (
	"net/url"
	"path/filepath"
	"strings"
)

// relative returns a slash-separated path relative to the workspace; a path outside becomes
// absolute.
func (o Output) relative(path string) string {
	if path == "" || path == "-" || path == "<stdin>" {
		return ""
	}
	if rest, ok := strings.CutPrefix(path, "file://"); ok {
		if u, err := url.PathUnescape(rest); err == nil {
			path = u
		}
	}
	path = strings.ToValidUTF8(path, "\uFFFD")
	if !filepath.IsAbs(path) {
		path = filepath.Join(o.Cwd, path)
	}
	path = filepath.Clean(path)
	if rel, err := filepath.Rel(o.Workspace, path); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(path)
}
