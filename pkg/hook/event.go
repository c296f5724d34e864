package hook

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"ethos/pkg/agent"
	"ethos/pkg/record"
)

// Event is what an agent reports: the action, still without a work space, and the actor. Actor.Mode
// is "" if the event does not say, and so is Actor.Parent.Mode, because no agent's event reports
// the mode of a sub-agent's parent.
type Event struct {
	Action record.Action
	Actor  record.Actor
}

// Auto makes [Decode] determine the dialect from the event itself.
const Auto = "auto"

// dialect is the event side of one agent's protocol.
type dialect struct {
	name  string
	reply replier
	// call reads the frame of an event: its name, its tool, the tool's input. It makes no decision.
	call func(d record.Document) (call, error)
	// tools are the tools with an effect, by the agent's name for them.
	tools map[string]decoder
	// before are the events that precede a tool's run.
	before []string
	// others are the known events that precede no tool's run, beside after and ends. An event that is
	// in none of these lists may be one before a call under a new name: [Reply] refuses it.
	others []string
	// after are the events that follow a call and accept context for the model.
	after []string
	// ends is the event at the end of an agent's session, or "".
	ends string
	// typed reports whether the agent can type into what a tool of this name starts, by calls that
	// have no event. It is used if the event does not say. nil means that it cannot for any tool.
	typed func(tool string) bool
	// is reports whether an event belongs to the dialect.
	is func(d record.Document) bool
}

// decoder converts a tool call to an action.
type decoder func(c call) (record.Action, error)

// call is a tool call as an agent reports it.
type call struct {
	event   string
	tool    string
	session string
	child   string // ID of the sub-agent that makes the call, or ""
	cwd     string
	mode    string // in the agent's own term
	server  string // for an MCP tool
	input   record.Value
	whole   bool // input is the whole event, which has more than the record needs
}

// protocol is a dialect and its name.
type protocol struct {
	name    string
	dialect func() dialect
}

// protocols lists the dialects in the order in which help texts name them. [Auto] tries the last one
// first: a dialect comes after those whose events have the keys of its events, too.
func protocols() []protocol {
	return append(agents[:], protocol{"mcp", mcpDialect})
}

func (p protocol) open() dialect {
	d := p.dialect()
	d.name = p.name
	return d
}

// Dialects returns the names of the dialects that [Decode] reads.
func Dialects() []string { return append(agent.Names(), "mcp") }

// Decode decodes one event. cwd is the working directory of an event that names none. The error is
// a [*record.BadLine].
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
	for _, p := range slices.Backward(protocols()) {
		if p.name != name && name != Auto {
			continue
		}
		if d := p.open(); name != Auto || d.is(doc) {
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
		e.Action.Workspace = c.cwd // the directory of the call is chosen by the model
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

// interactive reports whether the agent controls the input of the command: as its event says, or
// else as the tool determines.
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
	case c.tool == "" && c.server == "":
		return record.Action{}, missing("the event before a call names no tool")
	case known:
		return read(c)
	case c.server != "":
		return mcp(c)
	case c.commands():
		return shell("", "command")(c)
	}
	return report(c), nil
}

// commands reports whether the input of a tool that is not known has a command line. An editor's
// command, such as "view", comes with a path.
func (c call) commands() bool {
	return isText(c.input.Get("command")) && !c.input.Get("path").Exists() && !c.input.Get("file_path").Exists()
}

// tell is for tools that start nothing.
func tell(c call) (record.Action, error) { return report(c), nil }

// maxReport is the size limit of the input that is kept for a report, in bytes.
const maxReport = 64 << 10

// report returns the action of an event for which nothing is executed.
func report(c call) record.Action {
	a := record.Action{Kind: record.KindEvent, Name: c.event}
	if c.input.IsObject() && !c.whole && len(c.input.Raw) <= maxReport {
		a.Input = []byte(c.input.Raw)
	}
	return a
}

// modeOf converts an agent's permission mode to a trust mode. An unknown mode is safe, and so is
// dontAsk, which refuses what was not allowed before.
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

// mcpServer returns the server of mcp__server__tool.
func mcpServer(tool string) string {
	if rest, ok := strings.CutPrefix(tool, "mcp__"); ok {
		server, _, _ := strings.Cut(rest, "__")
		return server
	}
	return ""
}

// optional reads a string that may be absent or null.
func optional(d record.Document, key string) (string, error) {
	v := d.Get(key)
	if !v.Exists() || v.Raw == "null" {
		return "", nil
	}
	return text(v, key)
}
