package hook

import (
	"regexp"
	"strings"
	"testing"

	"ethos/pkg/record"
)

// sessionNames is what ethos-sandbox takes.
var sessionNames = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func TestEndsSession(t *testing.T) {
	for agent, text := range map[string]string{
		"claude": `{"session_id":"s","cwd":"/w","hook_event_name":"SessionEnd","reason":"clear"}`,
		"codex":  `{"session_id":"s","cwd":"/w","hook_event_name":"SessionEnd","reason":"other"}`,
		"gemini": `{"session_id":"s","cwd":"/w","hook_event_name":"SessionEnd","reason":"exit"}`,
	} {
		e, err := Decode(agent, []byte(text), "/")
		if err != nil || !EndsSession(e) || e.Actor.Session != "s" || e.Action.Kind != record.KindEvent {
			t.Errorf("%s: %+v %v", agent, e, err)
		}
		start := strings.ReplaceAll(text, "SessionEnd", "SessionStart")
		if e, err = Decode(agent, []byte(start), "/"); err != nil || EndsSession(e) {
			t.Errorf("%s: %s: %+v %v", agent, start, e, err)
		}
	}
	if EndsSession(Event{}) {
		t.Error("nothing ends a session")
	}
}

func TestSessionName(t *testing.T) {
	const uuid = "0199c0de-7a31-7e52-9d41-000000000002"
	if got := SessionName(&record.Actor{Agent: "claude", Session: uuid}, "/w"); !strings.HasPrefix(got, "claude-"+uuid+"-") {
		t.Errorf("%s", got)
	}
	if got := SessionName(&record.Actor{Agent: "claude"}, "/w"); got != "" {
		t.Errorf("without a session: %s", got)
	}
	seen := map[string]string{}
	for _, a := range []record.Actor{
		{Agent: "claude", Session: "a"}, {Agent: "codex", Session: "a"}, {Agent: "claude", Session: "b"}, {Agent: "", Session: "a"}, {Agent: "../x", Session: "a"},
		{Agent: "claude", Session: "../../etc"}, {Agent: "claude", Session: "--/--/etc"}, {Agent: "claude", Session: "a b"}, {Agent: "claude", Session: "a/b"},
		{Agent: "claude", Session: "é'\n\x00$(x)"}, {Agent: "opencode", Session: uuid}, {Agent: "claude", Session: "-"}, {Agent: "-._", Session: "-"},
		{Agent: "a very long name of an agent", Session: strings.Repeat("x", 4000)}, {Agent: "claude", Session: strings.Repeat("x", 4001)}, {Agent: "claude", Session: strings.Repeat("x", 4002)},
	} {
		for _, boundary := range [][]string{{"/w"}, {"/v"}, {"/w", "--rw", "x"}, {"/w", "--rw x"}, nil} {
			name := SessionName(&a, boundary...)
			key := a.Agent + "\x00" + a.Session + "\x00" + strings.Join(boundary, "\x00")
			if !sessionNames.MatchString(name) {
				t.Errorf("%+v: %q is no name", a, name)
			}
			if other, ok := seen[name]; ok {
				t.Errorf("%q and %q have the name %s", other, key, name)
			}
			seen[name] = key
			if name != SessionName(&a, boundary...) || !OwnSession(&a, name) {
				t.Errorf("%+v: %s is not known again", a, name)
			}
		}
	}
	child := record.Actor{Agent: "claude", Session: "child", Parent: &record.Parent{Session: "a"}}
	if SessionName(&child, "/w") != SessionName(&record.Actor{Agent: "claude", Session: "a"}, "/w") {
		t.Error("a sub-agent has another session than the agent")
	}
	own := record.Actor{Agent: "claude", Session: "a"}
	for _, name := range []string{"", "claude-a", "claude-a-", "claude-a-b-0123456789abcdef", "claude-b-0123456789abcdef", "codex-a-0123456789abcdef", "claude-a-0123456789abcdeg", "claude-a-0123456789abcdef0"} {
		if OwnSession(&own, name) {
			t.Errorf("%s is taken for its own", name)
		}
	}
}
