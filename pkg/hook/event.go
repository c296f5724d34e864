package hook

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"ethos/pkg/record"
)

// Event is what an agent reports: the action, still without a work space, and who asks. Actor.Mode is "" when the event does not say, and so is
// Actor.Parent.Mode: no agent's event tells a sub-agent's parent's.
type Event struct {
	Action record.Action
	Actor  record.Actor
}

// Auto lets [Decode] find the dialect by the event itself.
const Auto = "auto"

// dialect is the event side of one agent's protocol.
type dialect struct {
	name string
	// call reads the frame of an event: which event, which tool, its input. It never judges.
	call func(d record.Document) (call, error)
	// tools are the tools that do something, by the name the agent has for them.
	tools map[string]decoder
	// before are the events that come before a tool runs; all others report or announce.
	before []string
	// after are the events that come after a call and take context for the model.
	after []string
	// ends is the event with which a session of the agent ends, "" without one.
	ends string
	// typed reports whether the agent can go on typing into what a tool of this
	// name starts, by calls that have no event, where its event does not say;
	// nil: into none.
	typed func(tool string) bool
	// is recognises an event of the dialect.
	is func(d record.Document) bool
}

// decoder turns a tool call into an action.
type decoder func(c call) (record.Action, error)

// call is a tool call as an agent reports it.
type call struct {
	event   string
	tool    string
	session string
	child   string // id of the sub-agent that makes the call, "" when none does
	cwd     string
	mode    string // the agent's word for it
	server  string // of an MCP tool
	input   record.Value
	whole   bool // input is the event itself, which says more than the record needs
}

// dialects is in the order in which [Auto] tries them: those with a mark of their own first.
func dialects() []dialect {
	return []dialect{cursorDialect(), copilotDialect(), openCodeDialect(), mcpDialect(), geminiDialect(), codexDialect(), claudeDialect()}
}

// Dialects names the dialects that [Decode] reads.
func Dialects() []string {
	return []string{"claude", "codex", "gemini", "cursor", "copilot", "opencode", "mcp"}
}

// Decode reads one event. cwd is the working directory of an event that names none. The error is a [*record.BadLine].
func Decode(name string, text []byte, cwd string) (Event, error) {
	doc, err := record.ParseDocument(text)
	if err != nil {
		return Event{}, err
	}
	if !doc.IsObject() {
		return Event{}, record.NewBadLine(record.CodeWrongType, "the event is not an object", text)
	}
	d, err := find(name, doc)
	if err == nil {
		var e Event
		if e, err = d.decode(doc, cwd); err == nil {
			return e, nil
		}
	}
	var fault *record.BadLine
	if errors.As(err, &fault) {
		return Event{}, record.NewBadLine(fault.Code, fault.Message, text)
	}
	return Event{}, record.NewBadLine(record.CodeWrongValue, err.Error(), text)
}

func find(name string, doc record.Document) (dialect, error) {
	for _, d := range dialects() {
		if d.name == name || name == Auto && d.is(doc) {
			return d, nil
		}
	}
	if name == Auto {
		return dialect{}, missing("no agent's event is known by these keys; name the agent with --from " + strings.Join(Dialects(), "|"))
	}
	return dialect{}, fmt.Errorf("unknown dialect %q: known are %s", name, strings.Join(Dialects(), ", "))
}

func (d dialect) decode(doc record.Document, cwd string) (Event, error) {
	c, err := d.call(doc)
	if err != nil {
		return Event{}, err
	}
	if c.cwd == "" {
		c.cwd = cwd
	}
	e := Event{Actor: record.Actor{Agent: d.name, Event: c.event, Tool: c.tool, Session: c.session, Mode: modeOf(c.mode)}}
	if c.child != "" {
		e.Actor.Session, e.Actor.Parent = c.child, &record.Parent{Session: c.session}
	}
	e.Action, err = d.action(c)
	if err != nil {
		return Event{}, fmt.Errorf("%s %s: %w", d.name, c.tool, err)
	}
	if e.Action.Cwd == "" {
		e.Action.Cwd = c.cwd
	}
	if e.Action.Cwd != c.cwd && path.IsAbs(c.cwd) {
		e.Action.Workspace = c.cwd // the call's directory is the model's choice
	}
	if e.Action.Kind == record.KindShell || e.Action.Kind == record.KindExec {
		e.Action.Interactive = d.interactive(c)
	}
	if e.Action.Kind == record.KindEvent && !path.IsAbs(c.cwd) {
		e.Action.Cwd = cwd
	}
	if !path.IsAbs(e.Action.Cwd) {
		return Event{}, fmt.Errorf("%s: cwd %q is not absolute", d.name, e.Action.Cwd)
	}
	return e, nil
}

// interactive reports whether the agent holds the other end of what the command
// reads: as its event says, else as its tool is.
func (d dialect) interactive(c call) bool {
	said := false
	for _, key := range []string{"tty", "pty", "interactive"} {
		v := c.input.Get(key)
		if !v.Exists() || v.Raw == "null" {
			continue
		}
		if v.Raw != "false" {
			return true
		}
		said = true
	}
	return !said && d.typed != nil && d.typed(c.tool)
}

func (d dialect) action(c call) (record.Action, error) {
	read, known := d.tools[c.tool]
	switch {
	case !slices.Contains(d.before, c.event):
		return report(c), nil
	case known:
		return read(c)
	case c.server != "":
		return mcp(c)
	}
	return report(c), nil
}

// maxReport bounds the input that a report keeps, in bytes.
const maxReport = 64 << 10

// report is an event that nothing is executed for.
func report(c call) record.Action {
	a := record.Action{Kind: record.KindEvent, Name: c.event}
	if c.input.IsObject() && !c.whole && len(c.input.Raw) <= maxReport {
		a.Input = []byte(c.input.Raw)
	}
	return a
}

// modeOf maps an agent's permission mode to the trust it stands for. What is not known is safe, as is dontAsk, which refuses what was not
// allowed before.
func modeOf(permission string) string {
	switch permission {
	case "":
		return ""
	case "plan":
		return record.ModePlan
	case "bypassPermissions", "auto", "yolo", "never":
		return record.ModeAuto
	}
	return record.ModeSafe // default, acceptEdits, dontAsk, …
}
