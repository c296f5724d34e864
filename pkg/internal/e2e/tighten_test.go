package e2e

import (
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// TestTighten has recorded runs say what of a trusted configuration they did not
// use: nothing of that is known of a run that nobody observed.
func TestTighten(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:git")
	s := shellSession(t)
	s.env = append(s.env, "XDG_STATE_HOME="+t.TempDir())
	for _, file := range []string{"~/data/in", "~/other/in", "~/made/in"} {
		s.write(file, "x\n")
	}
	const before = "sandbox:\n  read_paths:\n    - ~/data\n    - ~/other\n  read_write_paths:\n    - ~/made\n"
	s.write("repo_config.yaml", before)
	s.shell("ethos-decide trust --yes repo_config.yaml").mustSucceed(t)

	s.shell("ethos-facts -- cat " + s.home + "/data/in | ethos-decide | ethos-sandbox | ethos-trace").mustSucceed(t)
	if o := s.shell("ethos-sandbox learn --tighten").mustSucceed(t); o.stdout != "" || strings.Count(o.stderr, "unknown whether a run used it") != 3 {
		t.Errorf("nothing was observed: %s", o)
	}
	s.shell("ethos-facts -- cat " + s.home + "/data/in " + s.home + "/made/in | ethos-decide | ethos-sandbox --explain | ethos-trace").mustSucceed(t)
	o := s.shell("ethos-sandbox learn --tighten > p && git apply p && cat repo_config.yaml").mustSucceed(t)
	if want := "sandbox:\n  read_paths:\n    - ~/made\n    - ~/data\n"; o.stdout != want || !strings.Contains(o.stderr, "read_paths: ~/other: no run used it (of 1)") {
		t.Errorf("%s, want %s", o, want)
	}
}
