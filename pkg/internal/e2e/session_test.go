package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// sessionKeys is where each agent's event names the agent's session.
var sessionKeys = map[string]string{"claude": "session_id", "codex": "session_id", "gemini": "session_id", "opencode": "session_id", "copilot": "sessionId", "cursor": "conversation_id"}

// inSession is the recipe with the words that the documentation gives for one
// boundary for each session of the agent.
func inSession(text string) string {
	return strings.ReplaceAll(unconfined(text), " --confine=no", shipped)
}

// calls is an agent that makes calls in a session of its own.
type calls struct {
	*session
	recipe
	id string
}

// event is what the agent reports of a command.
func (c calls) event(command string) string {
	c.t.Helper()
	var event map[string]any
	if err := json.Unmarshal([]byte(c.reports(c.t, c.dir, command)), &event); err != nil {
		c.t.Fatal(err)
	}
	event[sessionKeys[c.agent]] = c.id
	text, err := json.Marshal(event)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

// call runs what the hook makes of a command, as the agent does.
func (c calls) call(command string) outcome {
	c.t.Helper()
	o := c.feed(c.event(command), inSession(c.hook(c.t))).mustExit(c.t, 0)
	answer := answerOf(c.t, c.agent, o.stdout)
	rewritten, _ := answer.input["command"].(string)
	if answer.decision == "deny" || !strings.Contains(rewritten, " --session auto:"+c.agent+"-"+c.id+"-") {
		c.t.Fatalf("%s is answered by %v", command, o)
	}
	return c.shell(rewritten)
}

// TestSessionOfAgent: ten calls of one session of an agent run in one boundary,
// which keeps what they leave in it; another session's calls run in another one.
// The agent's event for its end ends it.
func TestSessionOfAgent(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:python3", "command:curl")
	const where = "readlink /proc/self/ns/net /proc/self/ns/pid /proc/self/ns/mnt"
	for _, r := range recipes {
		if r.event == "cursor/shell.json" { // it takes no other input
			continue
		}
		t.Run(r.agent, func(t *testing.T) {
			t.Parallel()
			s := shellSession(t)
			defer s.shell("ethos-sandbox session end --all")
			one, two := calls{s, r, "0199c0de-7a31-7e52-9d41-00000000000a"}, calls{s, r, "second"}
			first := one.call(where).mustSucceed(t).stdout
			if strings.Count(first, "\n") != 3 {
				t.Fatalf("no three namespaces: %q", first)
			}
			one.call("echo kept > /tmp/kept; python3 -m http.server --bind 127.0.0.1 8123 >/dev/null 2>&1 & echo started").mustSucceed(t)
			for i := range 7 {
				if o := one.call(fmt.Sprintf("%s # %d", where, i)).mustSucceed(t); o.stdout != first {
					t.Errorf("call %d ran elsewhere: %v, the first: %s", i, o, first)
				}
			}
			const page = "cat /tmp/kept; for i in $(seq 50); do curl -sf http://127.0.0.1:8123/page && break; sleep 0.1; done"
			s.write("page", "served\n")
			if o := one.call(page); o.stdout != "kept\nserved\n" {
				t.Errorf("the tenth call: %v", o)
			}
			if o := two.call(where + "; cat /tmp/kept; curl -sf http://127.0.0.1:8123/page; echo end").mustSucceed(t); strings.Contains(o.stdout, strings.Fields(first)[0]) ||
				!strings.HasSuffix(o.stdout, "]\nend\n") {
				t.Errorf("another session of the agent: %v, the first: %s", o, first)
			}
			s.endsWith(one, two)
		})
	}
}

// endings are the events with which a session of an agent ends.
var endings = map[string]string{
	"claude": `{"session_id":%q,"transcript_path":"/x","cwd":%q,"hook_event_name":"SessionEnd","reason":"exit"}`,
	"codex":  `{"session_id":%q,"transcript_path":"/x","cwd":%q,"hook_event_name":"SessionEnd","reason":"other"}`,
	"gemini": `{"session_id":%q,"transcript_path":"/x","cwd":%q,"hook_event_name":"SessionEnd","reason":"exit"}`,
}

// inEnding finds the hook's command for the end of a session in an example.
var inEnding = regexp.MustCompile(`(?m)^\s*"?command"?\s*[:=]\s*"([^"]* session end [^"]*)"`)

// endsWith ends the session of one agent, and not that of another.
func (s *session) endsWith(one, two calls) {
	s.t.Helper()
	ending, ok := endings[one.agent]
	if !ok {
		return
	}
	hook := inEnding.FindStringSubmatch(example(s.t, one.file))
	if hook == nil {
		s.t.Fatalf("examples/%s has no hook for the end of a session", one.file)
	}
	s.feed(fmt.Sprintf(ending, one.id, s.dir), hook[1]).mustExit(s.t, 0)
	o := s.shell("ethos-sandbox session list").mustSucceed(s.t)
	if strings.Contains(o.stdout, one.id) || !strings.Contains(o.stdout, two.agent+"-"+two.id+"-") {
		s.t.Errorf("after the end of %s: %v", one.id, o)
	}
}

// TestNamedSession: a person starts a session, and the hook puts an agent's
// calls in it; where it does not run, nothing does.
func TestNamedSession(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := shellSession(t)
	defer s.shell("ethos-sandbox session end --all")
	claude := recipes[0]
	hook := strings.ReplaceAll(inSession(claude.hook(t)), "--session auto", "--session work")
	o := s.feed(claude.reports(t, s.dir, "readlink /proc/self/ns/net"), hook).mustExit(t, 0)
	command, _ := answerOf(t, "claude", o.stdout).input["command"].(string)
	if o = s.shell(command).mustExit(t, 125); !strings.Contains(o.stderr, "session work is not running") || o.stdout != "" {
		t.Errorf("without the session: %v", o)
	}
	s.shell("ethos-sandbox session start --name work").mustSucceed(t)
	inside := s.shell(command).mustSucceed(t)
	if want := s.shell("ethos-sandbox run --session work -- readlink /proc/self/ns/net").mustSucceed(t); inside.stdout != want.stdout {
		t.Errorf("%v\nin the session: %v", inside, want)
	}
}
