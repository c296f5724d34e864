package trust

import (
	"os/exec"
	"strings"
	"testing"
	"unicode"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
)

// words are names that a stranger may give a file.
var words = []string{"/w/repo_config.yaml", "/my work/x", "/it's/x", "/a\nb", "/\x1b[2J\x1b]0;title\a", "/\u202egnp.exe", "/\u200b", "/$(touch x)`id`", "/a\\b", "/ü/日本", "/\xff\xfe", "/'\x01'", "/~", "/\x7f", "/\u0085"}

// TestCommand: what a shell reads is the file's name, and what a terminal shows
// is text.
func TestCommand(t *testing.T) {
	probetest.Need(t, "command:bash")
	for _, w := range words {
		line := Command(w)
		if strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 {
			t.Errorf("%q: %q", w, line)
		}
		script := "printf %s " + strings.TrimPrefix(line, "ethos-decide trust ")
		cmd := exec.Command("bash", "-c", script)
		cmd.Env = []string{"LC_ALL=C.UTF-8"}
		out, err := cmd.Output()
		if err != nil || string(out) != w {
			t.Errorf("%s: a shell reads %q, %v; want %q", script, out, err, w)
		}
	}
}

func TestNotice(t *testing.T) {
	list := Pending([]record.Configuration{
		{Path: "/trusted", Trusted: true, Widens: []string{"x: y"}}, {Path: "/narrow", Widens: nil},
		{Path: "/w/repo_config.yaml", Widens: []string{"sandbox.read_paths: ~/\x1b[31m", "tools: x"}},
	})
	if len(list) != 1 {
		t.Fatalf("%v", list)
	}
	want := `/w/repo_config.yaml widens what commands may do (sandbox.read_paths: ~/\x1b[31m and 1 more); nobody has trusted it, so that does not apply: ethos-decide trust /w/repo_config.yaml`
	if got := Notice(list[0]); got != want {
		t.Errorf("%s", got)
	}
}
