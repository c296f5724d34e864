package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ethos/pkg/shorttest"
)

// state prints what a repository holds beside what the file system would show as different each time.
const state = `
for d in $(find . -name HEAD -path '*.git/HEAD' -o -name HEAD -path './*.git/HEAD' | sort); do
  d=$(dirname "$d"); echo "== $d"
  git --git-dir="$d" for-each-ref; git --git-dir="$d" symbolic-ref -q HEAD; git --git-dir="$d" log --all --format=raw | grep -v '^ '
  git --git-dir="$d" ls-files -s; cat "$d/config"; find "$d/logs" -type f 2>/dev/null | sort | xargs cat 2>/dev/null
done
find . -name .git -prune -o -name .coding-ethos -prune -o -name '*.git' -prune -o -name 'key*' -prune -o -name signers -prune -o -type f -print | sort | xargs -d '\n' sha256sum
`

// TestSessions runs whole sessions with git and with ethos-git under the shipped policies: same output, same repositories.
func TestSessions(t *testing.T) {
	shorttest.Long(t)
	scripts, err := filepath.Glob("testdata/session/*.sh")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	for _, file := range shorttest.Sample(scripts, 5) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".sh"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(t)
			plain := w.session(false, string(text))
			guarded := w.session(true, string(text))
			if d := cmp.Diff(strings.Split(plain, "\n"), strings.Split(guarded, "\n")); d != "" {
				t.Errorf("(-git +ethos-git)\n%s", d)
			}
		})
	}
}

// session runs a script in an empty directory, always the same one, and returns all that can be seen of it.
func (w *world) session(guarded bool, script string) string {
	w.t.Helper()
	if err := os.RemoveAll(w.path("home/s")); err != nil {
		w.t.Fatal(err)
	}
	w.write("home/.gitconfig", gitConfig, 0o644)
	if guarded { // hooks that the session makes itself are the user's
		script = "TRUST=\"$BIN/ethos-git ethos trust\"\n" + script
	}
	out, _, _ := w.script(guarded, "mkdir s && cd s && exec 2>&1\n(\n"+script+"\n)\n")
	now, _, _ := w.script(false, "cd s && exec 2>&1\n"+state)
	return out + now
}
