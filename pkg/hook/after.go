package hook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ethos/pkg/printable"
	"ethos/pkg/record"
)

// After reports whether an event follows a call and its answer may carry context for the model.
func After(dialect, event string) bool {
	d, err := find(dialect, record.Document{})
	return err == nil && slices.Contains(d.after, event)
}

// RecordOf returns the ID of the record to which a confined call adds its result, from the command
// that the event after the call reports. It returns "" for a call that was not confined.
func RecordOf(a *record.Action) string {
	var input map[string]json.RawMessage
	if json.Unmarshal(a.Input, &input) != nil {
		return ""
	}
	for _, key := range commandKeys {
		var script string
		if json.Unmarshal(input[key], &script) == nil {
			return recordIn(strings.SplitN(script, " ", recordWords))
		}
		var argv []string
		if json.Unmarshal(input[key], &argv) == nil {
			return recordIn(argv)
		}
	}
	return ""
}

// recordWords is how many words of a confined call are searched: those that [Confine] puts in
// front, with room for blanks in the path of the program.
const recordWords = 16

func recordIn(words []string) string {
	for i := 2; i+1 < len(words); i++ {
		program := strings.HasSuffix(strings.TrimSuffix(words[i-2], "'"), "ethos-sandbox")
		if program && (words[i-1] == "shell" || words[i-1] == "run") && words[i] == recordOption && record.IsID(words[i+1]) {
			return words[i+1]
		}
	}
	return ""
}

// Context answers an event after a call with text for the model; "" is no output.
func Context(dialect string, actor *record.Actor, text string) Answer {
	d, err := find(dialect, record.Document{})
	if err != nil || text == "" || !slices.Contains(d.after, actor.Event) {
		return Answer{}
	}
	return Answer{Output: printed(d.reply.context(actor.Event, text))}
}

// additionalContext has the same form for Claude Code, Codex CLI and Gemini CLI.
type additionalContext struct {
	HookEventName     string `json:"hookEventName"`
	AdditionalContext string `json:"additionalContext"`
}

func specificContext(event, text string) any { return specificOutput{additionalContext{event, text}} }

// maxTold limits how many denials of one call are reported to the model.
const maxTold = 12

// refusalsFront introduces the lines below it. It is worded to keep a model from trying the same in
// other ways.
const refusalsFront = "The call ran inside of the boundary of ethos, which refused it the following. Doing the same by another command is refused as well; a person can allow it.\n"

// Refusals describes, for the model, what the boundary refused to a call that failed: the access,
// how certain that is, and what a person does to allow it, as wayOut returns it. It is "" if the
// call succeeded or nothing was refused.
func Refusals(id string, r *record.Result, wayOut func(*record.Denial) string) string {
	denials := r.Capture.Sandbox.Denials
	if r.Status == record.StatusExited && r.ExitCode == 0 || len(denials) == 0 {
		return ""
	}
	text := refusalsFront
	for i := range denials {
		if i == maxTold {
			return text + fmt.Sprintf("- %d more: ethos-trace show %s\n", len(denials)-i, id)
		}
		text += "- " + printable.Line(refusal(&denials[i], wayOut)) + "\n"
	}
	return text
}

func refusal(d *record.Denial, wayOut func(*record.Denial) string) string {
	said := sentence(d.Layer + ": " + d.What + ": " + d.Reason + d.Guess())
	switch {
	case d.Remedy == "":
		return said
	case d.Kind == "" && d.Layer != record.LayerNetwork:
		return said + " For a person: " + sentence(d.Remedy)
	}
	return said + " To allow it: " + sentence(wayOut(d))
}

// WayOut returns what a person does about a denial of an agent's call. It does not name the flags
// that would allow the access, because the hook sets the flags and the agent cannot. id is the
// record of the call. approvable reports whether an approval of the call grants a host name.
func WayOut(d *record.Denial, id string, approvable func(host string) bool) string {
	host, network := strings.CutPrefix(d.Remedy, "--allow-domain ")
	switch {
	case network && approvable(strings.Trim(host, "'")):
		return "a person allows it once with ethos-decide approve " + id + "; then repeat the same call"
	case network:
		return "a person declares the name for its tool in repo_config.yaml (network_tools), and runs ethos-decide trust repo_config.yaml"
	case d.Declare != "":
		return "a person writes " + d.Declare + " below sandbox in repo_config.yaml, and runs ethos-decide trust repo_config.yaml"
	}
	return "a person starts a session that has it, ethos-sandbox session start --name NAME " + d.Remedy + ", and names it in the hook: --session NAME"
}
