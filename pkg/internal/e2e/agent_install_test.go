//go:build agents

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestAgentsInstalled: what hook install writes into settings that have other things in them guards the real agent: allowed calls run confined, refused ones do not,
// and both are in the store; hook status tells when it asked. After hook remove the agent runs without.
func TestAgentsInstalled(t *testing.T) {
	each(t, func(t *testing.T, a agent) {
		s := agentSession(t, a, asShipped)
		defer s.shell("ethos-sandbox session end --all")
		scope := " --user"
		if a.name == "opencode" {
			scope = " --project" // where its provider is
		}
		s.shell("ethos-decide hook remove " + a.name + scope + " --yes").mustSucceed(t)
		if o := s.shell("ethos-decide hook status "+a.name).mustExit(t, 1); !strings.Contains(o.stdout, "not guarded; ") || !strings.Contains(o.stdout, "never asked") {
			t.Errorf("before: %v", o)
		}
		s.shell("ethos-decide hook install " + a.name + scope + " --yes").mustSucceed(t)
		outside := filepath.Join(t.TempDir(), "marker")
		c := a.converse(t, s, "cat /proc/1/comm; touch inside "+outside, "rm -rf ~/", "exit 3")
		if !strings.Contains(c.told[0], "ethos-init") || !s.exists("inside") || s.exists(outside) {
			t.Errorf("the allowed call: %q", c.told[0])
		}
		if !strings.Contains(c.told[1], "files.delete_wide") || !s.exists("~/precious") {
			t.Errorf("the refused call: %q", c.told[1])
		}
		o := s.shell("ethos-trace ls --agent " + a.name).mustSucceed(t)
		for _, want := range []string{"denied ", "rm -rf ~/  (files.delete_wide", "failed ", "exit 3"} {
			if !strings.Contains(o.stdout, want) {
				t.Errorf("the store lacks %q: %v", want, o)
			}
		}
		if o := s.shell("ethos-decide hook status " + a.name).mustSucceed(t); !strings.Contains(o.stdout, "guarded, confined, recorded by ") || !strings.Contains(o.stdout, "asked last ") {
			t.Errorf("after: %v", o)
		}
		s.shell("ethos-sandbox session end --all").mustSucceed(t) // OpenCode does not say that its session has ended
		s.shell("ethos-decide hook remove " + a.name + scope + " --yes").mustSucceed(t)
		if a.name == "opencode" {
			return // without the plug-in there is no opencode.json of the recipe to merge the provider into
		}
		if a.name == "codex" { // the provider that setUp puts in front is there
			if text := s.read("~/.codex/config.toml"); strings.Contains(text, "ethos") {
				t.Errorf("left: %s", text)
			}
			s.write("~/.codex/config.toml", "")
		}
		if a.start(t, s, "touch ran"); !s.exists("ran") {
			t.Error("after hook remove the call did not run")
		}
	})
}
