//go:build agents

package e2e

import (
	"strings"
	"testing"
)

// TestAgentsShareBoundary: the calls of a conversation run in one boundary, in
// which a background process of one is there for the next. Codex CLI and Gemini
// CLI end it when they end; OpenCode leaves it to the idle time.
func TestAgentsShareBoundary(t *testing.T) {
	each(t, func(t *testing.T, a agent) {
		s := agentSession(t, a, inSession)
		defer s.shell("ethos-sandbox session end --all")
		const where = "readlink /proc/self/ns/net; cat /tmp/kept"
		c := a.converse(t, s, "echo kept > /tmp/kept; sleep 1000 >/dev/null 2>&1 & echo begun", "pgrep -x sleep && echo alive; "+where, where)
		if !strings.Contains(c.told[1], "alive") {
			t.Errorf("the background process is gone: %q", c.told[1])
		}
		for _, told := range c.told[1:] {
			if at := strings.Index(told, "net:["); at < 0 || !strings.Contains(c.told[2], told[at:at+16]) || !strings.Contains(told, "kept") {
				t.Errorf("not one boundary: %q", c.told)
			}
		}
		o := s.shell("ethos-sandbox session list").mustSucceed(t)
		if runs := strings.Contains(o.stdout, a.name+"-"); runs != (a.name == "opencode") {
			t.Errorf("after the end of %s: %v", a.name, o)
		}
	})
}
