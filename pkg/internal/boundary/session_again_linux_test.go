package boundary

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// TestSessionStartedAgainSaysWhy: the command that starts a session again which a change outside has ended says so, once, with what was put aside, and
// has it in its evidence. One that somebody has ended is started without a word.
func TestSessionStartedAgainSaysWhy(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	l := &lodge{t, space(t)}
	defer func() { l.must("session", "end", "--all") }()
	config := filepath.Join(l.dir, "repo_config.yaml")
	if err := os.WriteFile(config, []byte("version: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	evidence := filepath.Join(t.TempDir(), "evidence")
	run := func(script string) (errs string, result string) {
		t.Helper()
		_, errs, status := l.does("", "run", "--session", "auto:w", "--evidence", evidence, "--", "sh", "-c", script)
		text, _ := os.ReadFile(evidence)
		if status != 0 {
			t.Fatalf("%s: %d %s", script, status, errs)
		}
		return errs, string(text)
	}
	const again = "session w was started again"
	if errs, _ := run("sleep 1000 >/dev/null 2>&1 &"); errs != "" {
		t.Fatalf("the first start: %s", errs)
	}
	// As sed -i does: another file in its place.
	if err := os.WriteFile(config+".new", []byte("version: 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(config+".new", config); err != nil {
		t.Fatal(err)
	}
	l.until("the session does not end", func() bool { return len(l.used()) == 0 })
	errs, result := run("true")
	if !strings.Contains(errs, again+": it ended at ") || !strings.Contains(errs, config) || !strings.Contains(errs, "hint: ") {
		t.Errorf("the command that starts it again says %q", errs)
	}
	if !strings.Contains(result, `"what":"`+again) {
		t.Errorf("its evidence: %s", result)
	}
	if _, err := os.Lstat(config); err != nil && !strings.Contains(errs, config+" was quarantined: it is kept in ") {
		t.Errorf("what was put aside is not named: %q", errs)
	}
	if errs, result := run("true"); strings.Contains(errs+result, again) {
		t.Errorf("said twice: %s", errs)
	}
	l.must("session", "end", "w")
	if errs, result := run("true"); strings.Contains(errs+result, again) {
		t.Errorf("said of a session that was ended: %s", errs)
	}
}

// TestSessionPutsAsideUntilItEnds: what a running session has put aside it would put aside again, so the way back begins with its end.
func TestSessionPutsAsideUntilItEnds(t *testing.T) {
	l := lodged(t)
	_, errs, _ := l.sh("echo version: 1 > repo_config.yaml")
	if !strings.Contains(errs, ": ethos-sandbox session end w && mv ") {
		t.Errorf("the hint is %q", errs)
	}
}
