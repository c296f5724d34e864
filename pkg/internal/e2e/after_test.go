package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/shorttest"
)

// afterCall is how an agent reports a call that ran, and where it takes what its
// model is to know: the documentation of PostToolUse, PostToolUseFailure and
// AfterTool; the last one is our plug-in's.
var afterCall = map[string]struct{ event, input, told string }{
	"claude":   {"PostToolUseFailure", "tool_input", `{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":`},
	"codex":    {"PostToolUse", "tool_input", `{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":`},
	"gemini":   {"AfterTool", "tool_input", `{"hookSpecificOutput":{"hookEventName":"AfterTool","additionalContext":`},
	"opencode": {"tool.execute.after", "args", `{"context":`},
}

// inAfter finds the hook that comes after a call in an example.
var inAfter = regexp.MustCompile(`"?(?:command"?\s*[:=]|const after =)\s*"([^"]* --reply \w+'(?: \|\| cat >/dev/null)?)"`)

// TestModelIsTold: after a confined call that failed, the agent's hook tells the
// model what the boundary refused and what a person does; after one that
// succeeded, one that failed by itself, and one of another session, it says
// nothing. Where ethos is missing it says nothing either, and nothing is blocked.
func TestModelIsTold(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	for _, r := range shorttest.Sample(recipes, 3) {
		after, ok := afterCall[r.agent]
		if !ok {
			continue
		}
		t.Run(r.agent, func(t *testing.T) {
			t.Parallel()
			s := shellSession(t)
			defer s.shell("ethos-sandbox session end --all")
			secret := filepath.Join(t.TempDir(), "notes.txt")
			if err := os.WriteFile(secret, nil, 0o644); err != nil {
				t.Fatal(err)
			}
			hook := "timeout -s KILL 30 sh -c 'ethos-facts --from claude | ethos-decide --reply claude' || cat >/dev/null" // its recipe has none
			if r.agent != "claude" {
				found := inAfter.FindStringSubmatch(example(t, r.file))
				if found == nil {
					t.Fatalf("examples/%s has no hook for the event after a call", r.file)
				}
				hook = found[1]
			}
			c := calls{s, r, "0199c0de-7a31-7e52-9d41-00000000000b"}
			said := func(id, command string, status int) string {
				t.Helper()
				o := s.feed(c.event(command), inSession(c.hook(t))).mustExit(t, 0)
				rewritten, _ := answerOf(t, r.agent, o.stdout).input["command"].(string)
				s.shell(rewritten).mustExit(t, status)
				event, err := json.Marshal(map[string]any{
					"hook_event_name": after.event, "session_id": id, "turn_id": "t", "cwd": s.dir, "tool": "bash",
					"tool_name": map[string]string{"gemini": "run_shell_command"}[r.agent], after.input: map[string]any{"command": rewritten},
				})
				if err != nil {
					t.Fatal(err)
				}
				if o := s.feed(string(event), "PATH=/usr/bin:/bin; "+hook); o.stdout != "" || r.agent != "opencode" && o.status != 0 {
					t.Errorf("without ethos: %v", o)
				}
				return s.feed(string(event), hook).mustExit(t, 0).stdout
			}
			got := said(c.id, "cat "+secret, 1)
			for _, want := range []string{secret + ": exists outside and is hidden inside (inferred)", "To allow it: a person writes read_paths: [" + secret + "]"} {
				if !strings.HasPrefix(got, after.told) || !strings.Contains(got, want) {
					t.Errorf("lacks %q: %s", want, got)
				}
			}
			for what, got := range map[string]string{
				"succeeded": said(c.id, "cat "+secret+"; true", 0), "failed by itself": said(c.id, "exit 3", 3), "another session": said("other", "cat "+secret+" # again", 1),
			} {
				if got != "" {
					t.Errorf("%s: %s", what, got)
				}
			}
			if o := s.shell("ethos-trace ls").mustSucceed(t); len(o.lines()) != 4 {
				t.Errorf("a call has one record: %v", o)
			}
		})
	}
}
