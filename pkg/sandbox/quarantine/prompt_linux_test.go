package quarantine

import (
	"os"
	"path/filepath"
	"testing"

	"ethos/pkg/internal/probetest"
)

// prompt is where Debian keeps contrib/completion/git-prompt.sh.
const prompt = "/usr/lib/git-core/git-sh-prompt"

// TestPrompt holds that a prompt that shows the state of git runs nothing:
// git-prompt.sh puts the numbers of a rebase into PS1 as they are, and bash
// expands them there.
func TestPrompt(t *testing.T) {
	probetest.Need(t, "file:"+prompt)
	for _, part := range []string{"rebase-merge/msgnum", "rebase-merge/end", "rebase-apply/next", "rebase-apply/last"} {
		t.Run(filepath.Base(part), func(t *testing.T) {
			w := newWorkspace(t)
			w.sh(`git init -q -b main .; git commit -q --allow-empty -m x`)
			attack := `d=.git/` + filepath.Dir(part) + `; mkdir -p $d; for f in msgnum end next last; do echo 3 > $d/$f; done; echo refs/heads/main > $d/head-name
				: > $d/rebasing; printf '$(: > %s/fired)\n' "$OUT" > .git/` + part
			show := `exec bash -c '. ` + prompt + `; __git_ps1 "<" ">"; printf %s "${PS1@P}"'`
			w.sh(attack)
			w.sh(show)
			if os.Remove(w.base+"/out/fired") != nil {
				t.Fatal("the attack does not bite")
			}
			w.sh("rm -r .git/rebase-*")

			found := w.after(attack)
			w.sh(show)
			if _, err := os.Stat(w.base + "/out/fired"); err == nil || len(found) == 0 {
				t.Errorf("the prompt ran something: %v, %v", err, found)
			}
		})
	}
}
