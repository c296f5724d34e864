package quarantine

import (
	"path/filepath"
	"testing"
)

// TestGone: a file that another process removed after it was found, as a
// concurrent run removes its placeholders, is no finding.
func TestGone(t *testing.T) {
	w := newWorkspace(t)
	w.sh(`git init -q own`)
	s := Begin(t.Context(), w.Scope)
	path := filepath.Join(w.dir, "own/.git/config.worktree")
	g := &gitDir{Session: s, tree: s.treeOf(path), path: filepath.Dir(path), own: true}
	g.aside(path, "a configuration that cannot be read")
	g.replace(path, "core.fsmonitor", nil, nil)
	g.aside(filepath.Join(w.dir, "gone/.git/config"), "a configuration that cannot be read")
	w.finds(s.Finish(t.Context()))
	w.sh(`test ! -e ` + w.Kept)
}
