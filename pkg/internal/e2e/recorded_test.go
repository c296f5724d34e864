package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// TestHookRecords: what a hook decides is in the store, a confined call with its result under the same id, listed once; another command adds nothing to it.
func TestHookRecords(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	for _, form := range []string{"--confine", "--confine --session auto"} {
		s := shellSession(t)
		defer s.shell("ethos-sandbox session end --all")
		ask := func(command string) string {
			t.Helper()
			o := s.feed(recipes[0].reports(t, s.dir, command), "ethos-facts --from claude | ethos-decide --reply claude "+form).mustExit(t, 0)
			text, _ := answerOf(t, "claude", o.stdout).input["command"].(string)
			return text
		}
		call := ask("echo it; exit 3")
		s.shell(strings.Replace(call, "exit 3", "exit 4", 1)).mustExit(t, 4) // not what was recorded
		s.shell(call).mustExit(t, 3)
		s.shell(call).mustExit(t, 3) // a record has one result
		ask("rm -rf ~")
		type entry struct {
			ID       string
			Decision struct{ Verdict string }
			Result   *struct {
				ExitCode int `json:"exit_code"`
			}
		}
		var list []entry
		for _, line := range s.shell("ethos-trace ls --json").mustSucceed(t).lines() {
			var e entry
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatal(err)
			}
			list = append(list, e)
		}
		if len(list) != 2 || list[0].Result == nil || list[0].Result.ExitCode != 3 || list[1].Result != nil || list[1].Decision.Verdict != "deny" {
			t.Errorf("%s: %+v", form, list)
		}
		for flags, want := range map[string]int{
			"--agent claude": 2, "--agent codex": 0, "--policy files.delete_wide": 1, "--policy git.force_push": 0, "--session nobody": 0, "--outcome failed": 1, "--all-workspaces --agent claude": 3,
		} {
			if o := s.shell("ethos-trace ls " + flags).mustSucceed(t); len(o.lines()) != want {
				t.Errorf("%s: %s: wanted %d lines: %v", form, flags, want, o)
			}
		}
		if o := s.shell("ethos-trace ls --outcome denied"); !strings.Contains(o.stdout, "(files.delete_wide") {
			t.Errorf("without its reason: %v", o)
		}
		if o := s.shell("TZ=Etc/GMT-5 ethos-trace ls"); !strings.Contains(o.stdout, " +0500 ") {
			t.Errorf("not in the reader's time zone: %v", o)
		}
		s.shell("ethos-trace verify").mustSucceed(t)
	}
}

// TestHookRecordsKilled: a call that ends with its session is stored as failed, with the reason.
func TestHookRecordsKilled(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:jq")
	s := shellSession(t)
	defer s.shell("ethos-sandbox session end --all")
	for command, want := range map[string]string{"sleep 1000": "failed", "sleep 0": "passed"} {
		o := s.feed(recipes[0].reports(t, s.dir, command), "ethos-facts --from claude | ethos-decide --reply claude --confine --session auto").mustExit(t, 0)
		call, _ := answerOf(t, "claude", o.stdout).input["command"].(string)
		if want == "passed" {
			s.shell(call).mustExit(t, 0)
		} else {
			s.shell("{ "+call+"\n} & until ethos-sandbox session list --json | grep -q '\"command\": \"sleep 1000\"'; do sleep 0.01; done; ethos-sandbox session end --all; wait $!").mustExit(t, 137)
		}
		if o := s.shell("ethos-trace ls --outcome " + want).mustSucceed(t); len(o.lines()) != 1 || !strings.Contains(o.stdout, command) || strings.Contains(o.stdout, "SIGKILL") != (want == "failed") {
			t.Errorf("%s is not listed as %s: %v", command, want, o)
		}
	}
	if o := s.shell("ethos-trace show $(ethos-trace ls --json --outcome failed | jq -r .id)"); !strings.Contains(o.stdout, "the session ended while it ran") {
		t.Errorf("without its reason: %v", o)
	}
}
