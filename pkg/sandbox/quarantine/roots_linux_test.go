package quarantine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/protected"
)

// TestNothingLeadsOut: links of a git directory that lead out of the writable
// tree are put aside themselves; what they lead to is neither read nor changed.
func TestNothingLeadsOut(t *testing.T) {
	w := newWorkspace(t)
	out := filepath.Join(w.base, "out")
	theirs := filepath.Join(out, "config")
	if err := os.WriteFile(theirs, []byte("[core]\n\tfsmonitor = mine\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := Begin(t.Context(), w.Scope)
	defer s.Close()
	w.sh(fmt.Sprintf(`git init -q n; rm n/.git/config; ln -s %[1]s/config n/.git/config
		git init -q m; rm -rf m/.git/hooks; ln -s %[1]s m/.git/hooks
		git init -q o; mkdir o/.git/logs; ln -s %[1]s/log o/.git/logs/HEAD; ln -s %[1]s o/.git/modules`, out))
	w.finds(s.Finish(t.Context()), "n/.git/config", "m/.git/hooks", "o/.git/logs/HEAD", "o/.git/modules")
	text, err := os.ReadFile(theirs)
	if err != nil || !strings.Contains(string(text), "fsmonitor = mine") {
		t.Errorf("it was changed: %q %v", text, err)
	}
	if entries, err := os.ReadDir(out); err != nil || len(entries) != 1 {
		t.Errorf("%v %v", entries, err)
	}
}

// TestAnotherRoot: what another program has put in the place of the writable
// root is not changed.
func TestAnotherRoot(t *testing.T) {
	for name, swap := range map[string]string{"link": "mv $D $D.aside; ln -s $D.other $D", "directory": "mv $D $D.aside; mv $D.other $D"} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			s := Begin(t.Context(), w.Scope)
			defer s.Close()
			w.sh(strings.ReplaceAll("git init -q $D.other; git -C $D.other config core.fsmonitor ./theirs; cd /; "+swap, "$D", w.dir))
			found := s.Finish(t.Context())
			if text := w.text(".git/config"); !strings.Contains(text, "./theirs") {
				t.Errorf("it was changed: %s", text)
			}
			if i := slices.IndexFunc(found, func(f Finding) bool { return f.Err == nil }); i >= 0 {
				t.Errorf("put aside: %+v", found[i])
			}
		})
	}
}

// TestFilesOfOtherKinds: a FIFO is not waited for, at the start neither, and
// what git cannot parse is put aside.
func TestFilesOfOtherKinds(t *testing.T) {
	w := newWorkspace(t)
	s := Begin(t.Context(), w.Scope)
	defer s.Close()
	w.sh(`git init -q n; rm n/.git/config; mkfifo n/.git/config
		git init -q m; printf '[core\n' > m/.git/config
		git init -q o; mkdir o/.git/rebase-merge; mkfifo o/.git/rebase-merge/git-rebase-todo o/.git/COMMIT_EDITMSG`)
	w.finds(s.Finish(t.Context()), "n/.git/config", "m/.git/config", "o/.git/rebase-merge/git-rebase-todo", "o/.git/COMMIT_EDITMSG")
	w.sh(`mkfifo m/.git/packed-refs`)
	Begin(t.Context(), w.Scope).Close()
}

// TestHonestSettings: what a package or a clone brings for editors, and what of
// an agent's directory runs nothing, is left.
func TestHonestSettings(t *testing.T) {
	w := newWorkspace(t)
	w.Settings, w.Runs = protected.Single(), protected.RunsBelow
	s := Begin(t.Context(), w.Scope)
	defer s.Close()
	w.sh(`mkdir -p node_modules/a/.vscode clone/.claude/agents clone/.claude/hooks; echo '{}' > node_modules/a/.vscode/settings.json
		echo x > clone/.claude/agents/reviewer.md; echo '{}' > clone/.claude/settings.json; echo x > clone/.claude/hooks/pre`)
	w.finds(s.Finish(t.Context()), "clone/.claude/settings.json", "clone/.claude/hooks/pre")
}
