package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"ethos/pkg/record"
)

// TestHomeBelowDeclared: a directory that contains the home directory can be read, and the
// home directory in it stays private: empty at the start, writable, in the one file system
// whose size is limited, and gone at the end. Nothing else leads to it.
func TestHomeBelowDeclared(t *testing.T) {
	twice(t, func(t *testing.T) {
		spec := script(t, `set -e
			no() { if "$@"; then echo "it can: $*" >&2; exit 9; fi; }
			test "$(cat ../sibling)" = shown
			test "$(ls -A "$HOME")" = ""
			echo mine > "$HOME/new"; test "$(cat "$HOME/new")" = mine; echo made > made
			no cat "$HOME/secret"; no touch ../sibling; no ls -A /.private; no ls -A /.private/1; no chmod 700 /.private
			device() { while read -r _ _ number _ at _; do test "$at" != "$1" || echo "$number"; done < /proc/self/mountinfo; }
			test "$(device "$HOME")" = "$(device /)"`)
		above := filepath.Dir(spec.Workspace)
		home := filepath.Join(above, "home")
		write(t, filepath.Join(home, "secret"), "secret\n")
		write(t, filepath.Join(above, "sibling"), "shown\n")
		spec.ReadPaths = []string{above}
		r := execute(t, spec)
		if r.err != nil || r.Status != record.StatusExited || r.ExitCode != 0 {
			t.Fatalf("%v, %s, %d\n%s", r.err, r.Status, r.ExitCode, r.Stderr.Text)
		}
		for name, want := range map[string]bool{filepath.Join(spec.Workspace, "made"): true, filepath.Join(home, "new"): false} {
			if _, err := os.Lstat(name); (err == nil) != want {
				t.Errorf("%s: %v, there is %v", name, err, want)
			}
		}
	})
}
