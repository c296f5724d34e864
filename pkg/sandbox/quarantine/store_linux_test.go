package quarantine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ethos/pkg/internal/probetest"
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

// TestInThePlaceOfTheStore: what the command has put there goes to the store, where the next command does not reach it. What was
// there before stays, whoever has it.
func TestInThePlaceOfTheStore(t *testing.T) {
	for name, there := range map[string]string{
		"a file": "echo forged > .coding-ethos", "a link": "ln -s .. .coding-ethos", "a file in it": "mkdir .coding-ethos; echo forged > .coding-ethos/quarantine",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			s := Begin(t.Context(), w.Scope)
			w.sh(there + "; mkdir sub; echo '{}' > sub/.mcp.json")
			found := s.Finish(t.Context())
			w.finds(found, "sub/.mcp.json")
			if aside, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(found[0].Aside)), "*.ethos-*.quarantined")); err != nil || len(aside) != 1 {
				t.Errorf("%v %v, %s", aside, err, found[0].Aside)
			}
			w.sh("test -d .coding-ethos -a ! -L .coding-ethos; ! ls -d .coding-ethos.* .coding-ethos/*.ethos-* 2>/dev/null")

			w = newWorkspace(t)
			w.sh(strings.ReplaceAll(there, "/quarantine", "/x"))
			s = Begin(t.Context(), w.Scope)
			w.sh("mkdir sub; echo '{}' > sub/.mcp.json")
			w.finds(s.Finish(t.Context()), "sub/.mcp.json")
			w.sh("test -e .coding-ethos -o -L .coding-ethos; ! ls -d .coding-ethos.* 2>/dev/null; ! test -e sub/.mcp.json")
		})
	}
}

// TestStoreOfSomebodyElse: root takes the store of the tree's owner, makes one for the owner, and displaces that of nobody.
func TestStoreOfSomebodyElse(t *testing.T) {
	probetest.Need(t, probetest.Root)
	const owner, third = 64017, 64018
	for name, c := range map[string]struct{ has, wants int }{"none": {-1, owner}, "the owner's": {owner, owner}, "root's": {0, 0}, "a third user's": {third, third}} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			if err := os.Chown(w.dir, owner, owner); err != nil {
				t.Fatal(err)
			}
			kept := filepath.Join(w.dir, ".coding-ethos")
			if c.has >= 0 {
				if err := errors.Join(os.Mkdir(kept, 0o700), os.WriteFile(kept+"/mark", nil, 0o600), os.Chown(kept, c.has, c.has)); err != nil {
					t.Fatal(err)
				}
			}
			s := Begin(t.Context(), w.Scope)
			w.sh("mkdir sub; echo '{}' > sub/.mcp.json")
			w.finds(s.Finish(t.Context()), "sub/.mcp.json")
			w.sh("! test -e sub/.mcp.json; ! ls -d .coding-ethos.* 2>/dev/null")
			if _, err := os.Lstat(kept + "/mark"); c.has >= 0 && err != nil {
				t.Errorf("the store was displaced: %v", err)
			}
			err := filepath.WalkDir(kept, func(path string, d os.DirEntry, _ error) error {
				info, err := os.Lstat(path)
				if err == nil && d.IsDir() && int(info.Sys().(*syscall.Stat_t).Uid) != c.wants {
					t.Errorf("%s does not belong to %d", path, c.wants)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
