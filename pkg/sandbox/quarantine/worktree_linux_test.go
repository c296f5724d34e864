package quarantine

import (
	"testing"

	"ethos/pkg/shorttest"
)

// TestWorkTreeOfAnother holds that a repository is left no work tree but its
// own: git checkout there would write hooks, settings or sources elsewhere.
func TestWorkTreeOfAnother(t *testing.T) {
	shorttest.Long(t)
	const checkout = `cd n; git checkout -q -f main 2>/dev/null || true; cd ..; test ! -e .git/hooks/post-checkout; test ! -e hooks/post-checkout; test ! -e m/hooks/post-checkout`
	for name, value := range map[string]string{
		"the hooks of the repository around": "../../.git", "the work tree around": "../..", "a neighbour": "../../m", "by a link": "../../l", "not there yet": "../../later",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			w.sh(`git init -q -b main .; git init -q m; ln -s .git l`)
			w.finds(w.after(`git init -q -b main n; cd n; mkdir hooks; echo evil > hooks/post-checkout; git add .; git commit -q -m x; rm -r hooks; git config core.worktree `+value), "n/.git/config")
			w.sh(checkout)
		})
	}
	t.Run("a link that is turned", func(t *testing.T) {
		w := newWorkspace(t)
		w.sh(`git init -q -b main .; git init -q -b main n; mkdir m; ln -s m l
			cd n; mkdir hooks; echo evil > hooks/post-checkout; git add .; git commit -q -m x; git config core.worktree ../../l`)
		w.finds(w.after(`rm l; ln -s .git l`), "n/.git/config")
		w.sh(checkout)
	})
	t.Run("its own", func(t *testing.T) {
		w := newWorkspace(t)
		w.sh(`git init -q -b main o; git -C o commit -q --allow-empty -m x; git init -q -b main .`)
		w.finds(w.after(`git -c protocol.file.allow=always submodule --quiet add "$PWD/o" s; git -c protocol.file.allow=always submodule --quiet add "$PWD/o" d/e`))
		w.finds(w.after(`git -C s commit -q --allow-empty -m y; touch x`))
		w.sh(`test "$(git config -f .git/modules/s/config core.worktree)" = ../../../s; git -C s status; git -C d/e checkout -q main`)
	})
}
