package hook

import (
	"fmt"
	"slices"
	"strings"

	"ethos/pkg/agent"
	"ethos/pkg/record"
)

// Turn is an event of a session that concerns no call.
type Turn struct {
	Agent, Session string
	Cwd            string
	Begins         bool // the session begins or is resumed
	Ends           bool // the turn ends
	Again          bool // the turn was held before: the model continued because of a hook
}

// TurnDialects returns the agents that a hook can make continue at the end of a turn: Claude Code
// (https://code.claude.com/docs/en/hooks, "Stop") and Codex CLI (codex-rs/hooks), which accepts the
// same answer.
func TurnDialects() []string { return agent.Turns() }

// DecodeTurn decodes one event. cwd is the directory of an event that names none.
func DecodeTurn(dialect string, text []byte, cwd string) (Turn, error) {
	if !slices.Contains(TurnDialects(), dialect) {
		return Turn{}, fmt.Errorf("%q is none of %s", dialect, strings.Join(TurnDialects(), ", "))
	}
	e, err := Decode(dialect, text, cwd)
	if err != nil {
		return Turn{}, err
	}
	doc, err := record.ParseDocument(text)
	if err != nil {
		return Turn{}, err
	}
	return Turn{
		Agent: dialect, Session: e.Actor.Session, Cwd: e.Action.Cwd,
		Begins: e.Actor.Event == "SessionStart", Ends: e.Actor.Event == "Stop", Again: doc.Get("stop_hook_active").Raw == "true",
	}, nil
}

// GoOn returns the answer that prevents the end of a turn. The model reads why.
func GoOn(why string) []byte {
	return printed(struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}{"block", why})
}

// Tell returns the answer that only shows a message to the person.
func Tell(what string) []byte {
	return printed(struct {
		SystemMessage string `json:"systemMessage"`
	}{what})
}
