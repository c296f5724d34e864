package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// needsCheck is a policy file that needs a command, but for the documents.
const needsCheck = "version: 1\nproofs:\n  - paths: [docs/**]\n    needs: []\n  - needs: [./check]\n"

// newChecked is a repository whose files need ./check.
func newChecked(t *testing.T) *session {
	t.Helper()
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	s.write("check", "#!/bin/sh\ngrep -q good content\n")
	s.write("content", "good\n")
	s.write("coding_ethos.yml", needsCheck)
	s.shell("chmod +x check && git add -A && git commit -qm one").mustSucceed(t)
	return s
}

// TestProofs: what the policy file needs is proven by runs that nobody asked to be recorded with their content, and no change of the file that nobody
// trusted takes a need away.
func TestProofs(t *testing.T) {
	s := newChecked(t)
	prove := func(status int, want string) {
		t.Helper()
		if o := s.shell("ethos-trace prove").mustExit(t, status); !strings.Contains(o.stdout+o.stderr, want) {
			t.Errorf("wanted %q: %v", want, o)
		}
	}
	run := func(command string) {
		t.Helper()
		s.shell("ethos-facts -c '"+command+"' | ethos-decide | ethos-sandbox | ethos-trace").mustExit(t, 0)
	}
	prove(1, "missing     ./check")
	run("true # ./check")
	run("cd .git && ../check; cd .. && ./check")
	prove(1, "missing     ./check")
	s.shell("ethos-trace prove --since HEAD").mustExit(t, 0)
	run("./check")
	prove(0, "proven      ./check")
	s.write("docs/a", "x")
	prove(0, "differs in nothing that needs it")
	s.write("content", "good, and more\n")
	prove(1, "other       ./check")
	if o := s.shell("ethos-trace prove --since HEAD").mustExit(t, 1); !strings.Contains(o.stdout, "other ") {
		t.Errorf("since a commit: %v", o)
	}
	run("./check")
	prove(0, "proven ")

	s.shell("ethos-decide trust --yes").mustExit(t, 0)
	for _, weaker := range []string{"version: 1\n", "version: 1\nproofs: []\n", "version: 1\nproofs: [{needs: []}]\n", "version: 1\nproofs:\n  - {paths: ['**'], needs: []}\n  - needs: [./check]\n", ""} {
		if s.write("coding_ethos.yml", weaker); weaker == "" {
			s.shell("rm coding_ethos.yml").mustSucceed(t)
		}
		prove(1, "other       ./check")
	}
	s.write("coding_ethos.yml", "version: 1\n")
	if o := s.shell("ethos-facts -c true | ethos-decide").mustExit(t, 0); !strings.Contains(o.stderr, "proofs: are not what was trusted") {
		t.Errorf("a person is not told: %v", o)
	}
	s.write("coding_ethos.yml", needsCheck+"  - needs: [./more]\n")
	s.write("coding_ethos.yml", "version: 1\nproofs: [{needs: [./more]}]\n")
	prove(1, "missing     ./more")
	s.write("coding_ethos.yml", "version: 1\n")
	s.shell("ethos-decide trust --yes").mustExit(t, 0)
	prove(2, "no command is named, and coding_ethos.yml has no proofs")
	s.write("coding_ethos.yml", "version: 1\nproofs: [{paths: [/etc/*], needs: []}]\n")
	prove(3, "below the root of the work space")
}

// TestTurnEnds: an agent whose turn ends without the proofs goes on, three times at most; with them, or where nothing changed that needs one, it ends.
func TestTurnEnds(t *testing.T) {
	s := newChecked(t)
	event := func(name string, again bool) string {
		return fmt.Sprintf(`{"session_id":"5a3e","transcript_path":"/t","cwd":%q,"permission_mode":"default","hook_event_name":%q,"stop_hook_active":%v}`, s.dir, name, again)
	}
	turn := func(agent, name string, again bool) (decision, text string) {
		t.Helper()
		o := s.feed(event(name, again), "ethos-trace prove --reply "+agent).mustExit(t, 0)
		var answer struct{ Decision, Reason, SystemMessage string }
		if o.stdout != "" && json.Unmarshal([]byte(o.stdout), &answer) != nil {
			t.Fatalf("no answer: %v", o)
		}
		return answer.Decision, answer.Reason + answer.SystemMessage
	}
	ends := func(again, want bool, has string) {
		t.Helper()
		decision, text := turn("claude", "Stop", again)
		if (decision == "") != want || !strings.Contains(text, has) {
			t.Errorf("ends: %q, wanted %v; told %q, which lacks %q", decision, want, text, has)
		}
	}
	ends(false, false, "missing     ./check") // where the session began is not known, so everything counts
	for _, agent := range []string{"claude", "codex"} {
		if decision, text := turn(agent, "SessionStart", false); decision+text != "" {
			t.Errorf("%s is told %q at the beginning", agent, text)
		}
		if decision, text := turn(agent, "Stop", false); decision+text != "" {
			t.Errorf("%s has changed nothing, and is told %q", agent, text)
		}
	}
	s.write("docs/a", "x")
	ends(false, true, "")
	s.write("content", "good, of the agent\n")
	ends(false, false, "exactly as written here")
	ends(true, false, "missing")
	ends(true, false, "missing")
	ends(true, true, "ends without a proof")
	ends(false, false, "missing")

	o := s.feed(recipes[0].reports(t, s.dir, "./check"), "ethos-facts --from claude | ethos-decide --reply claude --confine --session auto").mustExit(t, 0)
	text, _ := answerOf(t, "claude", o.stdout).input["command"].(string)
	if strings.Contains(text, "--session") {
		t.Fatalf("a call that is to prove something shares a boundary: %v", o)
	}
	s.shell(text).mustExit(t, 0)
	ends(true, true, "")
	s.shell("git commit -qam two").mustSucceed(t)
	ends(false, true, "")
	s.write("coding_ethos.yml", "version: 1\nproofs: 7\n")
	ends(false, false, "proofs must be a list")
	s.shell("rm coding_ethos.yml").mustSucceed(t)
	ends(false, true, "")
}
