package quarantine

import "testing"

const (
	leave      = `git init -q n; git -C n config core.fsmonitor ./evil; printf '#!/bin/sh\n' > n/.git/hooks/post-checkout`
	leaveAgain = `git -C n config core.fsmonitor ./evil; printf '#!/bin/sh\n' > n/.git/hooks/post-checkout`
)

// TestParallel holds that what one run left is not the person's for another that
// began meanwhile, and puts it back when the first has been judged.
func TestParallel(t *testing.T) {
	w := journaled(t)
	w.sh(`git init -q own; git -C own config core.editor ./mine; printf '#!/bin/sh\n' > own/.git/hooks/pre-commit`)
	first := Begin(t.Context(), w.Scope)
	w.sh(leave)
	second := Begin(t.Context(), w.Scope)
	w.finds(first.Finish(t.Context()), "n/.git/config", "n/.git/hooks/post-checkout")
	first.Close()
	w.sh(leaveAgain)
	w.finds(second.Finish(t.Context()), "n/.git/config", "n/.git/hooks/post-checkout")
	second.Close()
	w.sh(`! git -C n config core.fsmonitor; test "$(git -C own config core.editor)" = ./mine; test -e own/.git/hooks/pre-commit`)
}

// TestParallelElsewhere is the twin: what lies where the other run cannot write
// is the person's.
func TestParallelElsewhere(t *testing.T) {
	w := journaled(t)
	w.sh(`mkdir a b`)
	scope := w.Scope
	scope.Roots, scope.ReadOnly = []string{w.dir + "/a"}, []string{w.dir + "/a/closed"}
	first := Begin(t.Context(), scope)
	defer first.Close()
	w.sh(`for d in b/n a/closed; do git init -q $d; git -C $d config core.editor ./mine; done; git init -q a/open; git -C a/open config core.editor ./mine`)
	second := Begin(t.Context(), w.Scope)
	defer second.Close()
	w.finds(second.Finish(t.Context()), "a/open/.git/config")
}
