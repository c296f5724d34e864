package setup

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"
)

// Options says what the hook does.
type Options struct {
	// Confine is the value of --confine: "" is the bare flag, then "ask" and "allow"; "no" omits
	// the flag.
	Confine string
	// Programs is the directory of the programs. If it is "", they are found on the agent's PATH.
	Programs string
	// Failed says that the installed agent knows the event after a failed call. Older versions
	// treat settings that name this event as broken.
	Failed bool

	// What a person may have written by hand, as docs/agents.md names it. Install writes none of it.
	session string // value of --session: "" is auto, "-" omits the option
	noStore bool   // --no-store
	// former is the form that an earlier release wrote.
	former bool
}

// noSession is the value of Options.session that omits the option.
const noSession = "-"

// The marks by which ethos's own hooks are recognised in settings.
const (
	asksMark = "ethos-decide --reply "
	endsMark = "ethos-sandbox session end --from "
	turnMark = "ethos-trace prove --reply "
)

func (o Options) program(name string) string {
	if o.Programs == "" {
		return name
	}
	if o.Unquotable() {
		return name
	}
	return filepath.Join(o.Programs, name)
}

// Unquotable reports whether the path of Programs has a character, such as a space, that would need
// quotes. A hook's command is inside quotes already, so it names the programs without their
// directory.
func (o Options) Unquotable() bool {
	return strings.ContainsFunc(o.Programs, func(r rune) bool {
		return !strings.ContainsRune("-_./+@%", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

func (o Options) ask(agent string) string {
	return "timeout -s KILL 30 sh -c '" + o.pipe(agent) + "'"
}

// pipe returns the programs that answer an event.
func (o Options) pipe(agent string) string {
	flags := " --confine"
	if o.Confine != "" {
		flags += "=" + o.Confine
	}
	if o.Confine != "no" && o.session != noSession {
		flags += " --session " + cmp.Or(o.session, "auto")
	}
	if o.noStore {
		flags += " --no-store"
	}
	return o.program("ethos-facts") + " --from " + agent + " | " + o.program("ethos-decide") + " --reply " + agent + flags
}

// hook returns the command of a hook that blocks by its exit status. With status 2 the pipe has said
// itself why. All of it is one word for sh, because the agent's shell may be another one (fish has
// no $?), and $? is no variable that an agent replaces in its settings, as Gemini CLI does $NAME.
func (o Options) hook(agent string) string {
	if o.former {
		return o.ask(agent) + " || sh -c 'cat >/dev/null; echo ethos gave no answer: the call is blocked >&2; exit 2'"
	}
	return `sh -c 'timeout -s KILL 30 sh -c "` + o.pipe(agent) + `" || { [ $? = 2 ] || echo ethos gave no answer: the call is blocked >&2; cat >/dev/null; exit 2; }'`
}

// after returns the pipe that answers the event after a call. Nothing depends on it: if it fails,
// the model sees only the output of the command.
func (o Options) after(agent string) string {
	return "timeout -s KILL 30 sh -c '" + o.program("ethos-facts") + " --from " + agent + " | " + o.program("ethos-decide") + " --reply " + agent + "'"
}

// tell returns the hook for the event after a call.
func (o Options) tell(agent string) string { return o.after(agent) + " || cat >/dev/null" }

// end returns the command that ends the boundary which the calls of a session share.
func (o Options) end(agent string) string {
	return "timeout -s KILL 30 " + o.program("ethos-sandbox") + " session end --from " + agent
}

// turn returns the hook for the beginning of a session and the end of a turn. If it fails, the turn
// ends and the person is told, because a hook that blocks without reading the event would block for
// ever.
func (o Options) turn(agent string) string {
	return "timeout -s KILL 50 " + o.program("ethos-trace") + " prove --reply " + agent +
		` || sh -c 'cat >/dev/null; echo "{\"systemMessage\":\"ethos gave no answer: nothing was proven\"}"'`
}

// turnEvents are the events that ask for proofs.
var turnEvents = []string{"SessionStart", "Stop"}

func ours(command string) bool {
	return strings.Contains(command, asksMark) || strings.Contains(command, endsMark) || strings.Contains(command, turnMark)
}

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

func (o object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		for _, v := range []any{m.name, m.value} {
			text, err := compact(v)
			if err != nil {
				return nil, err
			}
			out.Write(text)
			out.WriteByte(':')
		}
		out.Truncate(out.Len() - 1)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// compact returns JSON without escapes for HTML.
func compact(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// hooked is an element of a list of hooks, with the path of the list.
type hooked struct {
	path  []string
	value any
	gate  bool // it is asked before a call; the others tell of a call, or of a session
}

// ended adds the hook for the end of a session, if calls share a boundary.
func ended(o Options, list []hooked, end object) []hooked {
	if o.Confine == "no" {
		return list
	}
	return append(list, hooked{path: []string{"hooks", "SessionEnd"}, value: end})
}

func indented(v any, prefix, indent string) ([]byte, error) {
	text, err := compact(v)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = json.Indent(&out, text, prefix, indent)
	return append(out.Bytes(), '\n'), err
}
