package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ethos/pkg/printable"
	"ethos/pkg/record"
)

// Answer is the reply in an agent's hook protocol.
type Answer struct {
	Output  []byte // for standard output, with its newline; empty for none
	Message string // for standard error; "" for none
	Notice  string // for standard error if there was no error; "" for none
	Status  int    // exit status
}

// Verdict is the part of a decided record that a reply needs.
type Verdict struct {
	Decision *record.Decision
	Action   *record.Action
	Actor    *record.Actor
	// Rewritten is the tool input to run instead of the agent's, with all other keys unchanged. nil
	// keeps the agent's input.
	Rewritten json.RawMessage
	// Approve is the command by which a person lets the call pass, or "" if there is none.
	Approve string
	// Never says that no approval overrides the refusal.
	Never bool
	// Inside says that the agent itself is confined, so that no approval reaches it.
	Inside bool
	// Prompts makes an agent that can rewrite and ask at once ask the person about the rewritten
	// call. Without it the agent may treat the answer as the person's consent.
	Prompts bool
	// Bound says that the call must not run outside of a boundary, as it would after a yes to a
	// question of the agent: the agent does not ask.
	Bound bool
	// Outside says that a call runs outside of the boundary after such a yes, and inside once it is
	// approved.
	Outside bool
	// Notice is a message for the person at the agent, shown with every decision; "" for none.
	Notice string
}

// replier is the reply side of one dialect.
type replier struct {
	verdict func(Verdict) any       // what to print, nil for nothing
	failure func(reason string) any // what to print if no decision could be made
	status  int                     // exit status of a failure
	rewrite func(event string) bool // whether the event's answer can replace the agent's input
	// notice reports whether an answer to the event may have the key systemMessage, which the agent
	// shows to the person. nil means that none may.
	notice func(event string) bool
	// context is the answer to an event after a call that gives text to the model.
	context func(event, text string) any
}

func replierOf(dialect string) (replier, error) {
	for _, p := range protocols() {
		if p.name == dialect {
			return p.dialect().reply, nil
		}
	}
	return replier{}, fmt.Errorf("unknown reply dialect %q: known are %s", dialect, strings.Join(Dialects(), ", "))
}

// rewrites reports whether the answer to an event can replace the agent's input.
func rewrites(dialect, event string) bool {
	r, err := replierOf(dialect)
	return err == nil && r.rewrite(event)
}

func always(string) bool { return true }

func only(event string) func(string) bool {
	return func(e string) bool { return e == event }
}

// Reply answers an agent's event in its own protocol. The answer is empty for an event that is known
// to precede no tool call, because it follows the call or concerns no tool.
func Reply(dialect string, v Verdict) (Answer, error) {
	r, err := replierOf(dialect)
	if err != nil {
		return Answer{}, err
	}
	switch tells, err := Tells(dialect, v.Actor, v.Action); {
	case err != nil:
		return Answer{}, err
	case tells:
		return Answer{Notice: v.Notice}, nil
	}
	if v.Bound && v.Decision.Verdict == record.VerdictAsk {
		decision := *v.Decision
		decision.Verdict, v.Decision = record.VerdictDeny, &decision
	}
	answer := r.verdict(v)
	if v.Notice != "" && r.notice != nil && r.notice(v.Actor.Event) {
		return Answer{Output: noticed(v.Notice, answer)}, nil
	}
	return Answer{Output: printed(answer), Notice: v.Notice}, nil
}

// noticed encodes an answer, which is an object or nil, with a message for the person in it.
func noticed(notice string, answer any) []byte {
	out := printed(struct {
		SystemMessage string `json:"systemMessage"`
	}{notice})
	if rest := printed(answer); rest != nil {
		out = append(append(bytes.TrimSuffix(out, []byte("}\n")), ','), rest[1:]...)
	}
	return out
}

// Refuse returns the answer that blocks in the dialect, for use if no decision could be made. It
// blocks in an unknown dialect too.
func Refuse(dialect, reason string) Answer {
	reason = "ethos could not decide, so this was not run: " + reason
	r, err := replierOf(dialect)
	if err != nil {
		return Answer{Message: reason, Status: 2}
	}
	return Answer{Output: printed(r.failure(reason)), Message: reason, Status: r.status}
}

func printed(v any) []byte {
	if v == nil {
		return nil
	}
	text, err := encoded(v)
	if err != nil {
		panic(err) // only strings, and raw JSON that was decoded before
	}
	return append(text, '\n')
}

// encoded returns JSON without escapes for HTML.
func encoded(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte{'\n'}), err
}

// Tells reports whether there is nothing to block, because the call is over or the event announces
// none. An event that the dialect does not know is an error: it may announce a call. A tool call under
// an unknown event name, of a record that no agent's event became, is answered.
func Tells(dialect string, actor *record.Actor, action *record.Action) (bool, error) {
	d, err := find(dialect, record.Document{})
	if err != nil || action.Kind != record.KindEvent || slices.Contains(d.before, actor.Event) {
		return false, err
	}
	if actor.Event != "" && (actor.Event == d.ends || slices.Contains(d.after, actor.Event) || slices.Contains(d.others, actor.Event)) {
		return true, nil
	}
	return false, fmt.Errorf("ethos knows no event %q of %s, which may be one before a call", actor.Event, dialect)
}

// blocked reports whether the call does not run unless a person agrees.
func (v Verdict) blocked() bool {
	return v.Decision.Verdict != record.VerdictAllow && v.Decision.Verdict != record.VerdictWarn
}

// spelledOut is how many policies a reason describes in full.
const spelledOut = 3

// wholeTree is the policy whose refusal implies those for the files in the tree. The latter add
// nothing, and their remedies would mislead.
const wholeTree = "files.delete_wide"

// Reason explains the decision to the model: the policy, what was refused, what would be allowed,
// and whether to try again.
func (v Verdict) Reason() string {
	var text []string
	for _, e := range v.Decision.Errors {
		text = append(text, sentence(labelled(e.ID, e.Code)+": "+e.Message))
	}
	var also []string
	for i, m := range v.Decision.Matches {
		switch {
		case m.Effect != record.VerdictDeny && m.Effect != record.VerdictAsk:
		case i < spelledOut && v.Decision.Matches[0].ID != wholeTree || i == 0:
			text = append(text, sentence(m.ID+": "+m.Message), sentence("Instead: "+m.Remedy))
		default:
			also = append(also, m.ID)
		}
	}
	if len(also) > 0 {
		text = append(text, "Also refused by "+strings.Join(also, ", ")+".")
	}
	return printable.Text(strings.Join(append(text, v.retry()), " "))
}

// question is the reason for an agent that asks the person.
func (v Verdict) question() string {
	if v.Decision.Verdict != record.VerdictAsk || !v.Outside || v.Approve == "" {
		return v.Reason()
	}
	return v.Reason() + " If the person answers yes here, it runs outside of the boundary; after ethos-decide approve, it runs inside."
}

func labelled(id, code string) string {
	if id == "" {
		return code
	}
	return id + " (" + code + ")"
}

// retry tells a model whether to try again, because that is what it will otherwise do first.
func (v Verdict) retry() string {
	switch {
	case v.Approve != "":
		return "A person can approve it: `" + v.Approve + "`; then try the same call again."
	case v.Decision.Verdict == record.VerdictAsk && v.Inside:
		return "This agent runs inside a boundary, where approvals have no effect: a person has to do it outside."
	case v.Decision.Verdict == record.VerdictAsk:
		return "A person can approve it."
	}
	for _, e := range v.Decision.Errors {
		if e.Code == "policy.deadline" {
			return "Trying once more may help."
		}
	}
	if v.Never {
		return "No approval exists for this: trying the same again will be refused again."
	}
	return "Trying the same again will be refused again."
}

func sentence(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") || strings.HasSuffix(text, "`") {
		return text
	}
	return text + "."
}
