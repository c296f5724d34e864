package hook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ethos/pkg/printable"
	"ethos/pkg/record"
)

// After reports whether an event comes after a call, and takes context for the
// model in its answer.
func After(dialect, event string) bool {
	d, err := find(dialect, record.Document{})
	return err == nil && slices.Contains(d.after, event)
}

// RecordOf is the id of the record that a confined call adds its result to, as
// the event after the call reports the command that ran; "" for a call that was
// not confined.
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

// recordWords is how many words of a confined call are looked at: those that
// [Confine] puts in front, with room for blanks in the path of the program.
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

// Context answers an event after a call with what the model is to know of it;
// "" is silence.
func Context(dialect string, actor *record.Actor, text string) Answer {
	if text == "" || !After(dialect, actor.Event) {
		return Answer{}
	}
	if dialect == "opencode" {
		return Answer{Output: printed(struct {
			Context string `json:"context"`
		}{text})}
	}
	return Answer{Output: printed(specificOutput{additionalContext{actor.Event, text}})}
}

// additionalContext is the same for Claude Code, Codex CLI and Gemini CLI.
type additionalContext struct {
	HookEventName     string `json:"hookEventName"`
	AdditionalContext string `json:"additionalContext"`
}

// maxTold bounds the denials that a model is told of one call.
const maxTold = 12

// refusalsFront says what the lines below are. The words keep a model from
// trying the same in other ways.
const refusalsFront = "The call ran inside of the boundary of ethos, which refused it the following. Doing the same by another command is refused as well; a person can allow it.\n"

// Refusals is what the boundary refused a call that failed, in words for the
// model: what, how certain that is, and what a person does to allow it, as wayOut
// says it. It is "" where the call succeeded or nothing was refused.
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

// WayOut is what a person does about a denial of an agent's call. The flags that
// would allow it are nothing to the agent, whose hook writes its own. id is the
// record of the call, and approvable says that its approval brings the name of a
// host with it.
func WayOut(d *record.Denial, id string, approvable func(host string) bool) string {
	host, network := strings.CutPrefix(d.Remedy, "--allow-domain ")
	switch {
	case network && approvable(strings.Trim(host, "'")):
		return "a person lets the call have it once, with ethos-decide approve " + id + "; then give the same call again"
	case network:
		return "a person declares the name for its tool in repo_config.yaml (network_tools), and gives ethos-decide trust repo_config.yaml"
	case d.Declare != "":
		return "a person writes " + d.Declare + " below sandbox in repo_config.yaml, and gives ethos-decide trust repo_config.yaml"
	}
	return "a person starts a session that has it, ethos-sandbox session start --name NAME " + d.Remedy + ", and names it in the hook: --session NAME"
}
