package quarantine

import "testing"

// protecting is a scope in which the plan protects the configuration and hooks of
// the repository n by mounts.
func (w *workspace) protecting() Scope {
	scope := w.Scope
	scope.ReadOnly = []string{w.dir + "/n/.git/config", w.dir + "/n/.git/hooks"}
	scope.Writable = func(path string) bool {
		return !within(path, scope.ReadOnly[0]) && !within(path, scope.ReadOnly[1])
	}
	return scope
}

// TestBesideAMount holds that a mount is not believed to protect what it does
// not: a file of two names, and one that was put in its place.
func TestBesideAMount(t *testing.T) {
	for name, c := range map[string]struct{ before, attack string }{
		"a second name": {`ln n/.git/config x`, `printf '[core]\n\tfsmonitor = ./evil\n' >> x`},
		"another file":  {`:`, `mv n/.git/config n/.git/config.old; rm n/.git/config.old; git -C n config core.fsmonitor ./evil`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			w.sh(`git init -q n; ` + c.before)
			s := Begin(t.Context(), w.protecting())
			defer s.Close()
			w.sh(c.attack)
			w.finds(s.Finish(t.Context()), "n/.git/config")
			w.sh(`! git -C n config core.fsmonitor`)
		})
	}
	t.Run("behind it", func(t *testing.T) { // what a person writes there meanwhile
		w := newWorkspace(t)
		w.sh(`git init -q n`)
		s := Begin(t.Context(), w.protecting())
		defer s.Close()
		w.sh(`printf '#!/bin/sh\n' > n/.git/hooks/pre-commit; printf '[core]\n\teditor = ./mine\n' >> n/.git/config`)
		w.finds(s.Finish(t.Context()))
	})
}
