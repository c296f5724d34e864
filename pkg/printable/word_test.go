package printable

import (
	"os/exec"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// TestWord holds that bash reads a word back, runs nothing of it, and that it can be shown.
func TestWord(t *testing.T) {
	probetest.Need(t, "command:bash")
	words := []string{"", "a", "/a/b.c", "a b", "it's", `a"b`, `a\b`, "$(touch fired)", "`touch fired`", "'; touch fired; '", "a\nb", "a\x1b[2J\u009b", "a\xffb\xc3", "a\u200b\u202e'b\U000e0041", "日本", "-n", "~", "*", "!!", "a\u0301", "\u0301", "\t", "#x", "\x7f0", "\x010"}
	var script strings.Builder
	for _, w := range words {
		quoted := Word(w)
		if quoted != Line(quoted) {
			t.Errorf("%q is not printable: %q", w, quoted)
		}
		script.WriteString("printf '%s\\0' " + quoted + "\n")
	}
	cmd := exec.Command("bash", "--norc", "-c", script.String())
	cmd.Dir, cmd.Env = t.TempDir(), []string{"LC_ALL=C.UTF-8"}
	out, err := cmd.CombinedOutput()
	if want := strings.Join(words, "\x00") + "\x00"; err != nil || string(out) != want {
		t.Errorf("%q, want %q: %v", out, want, err)
	}
}
