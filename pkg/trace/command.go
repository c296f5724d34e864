package trace

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"ethos/pkg/record"
)

// Command returns the action as one text: a command line in shell quoting, a script, or the request
// to a tool.
func (e *Entry) Command() string {
	if e.Action.Kind == record.KindEvent {
		return strings.Join(slices.Compact(strings.Fields("event "+e.Actor.Event+" "+e.Action.Name+" "+e.Actor.Tool)), " ")
	}
	return CommandOf(e.Action)
}

// CommandOf is [Entry.Command] for an action that stands alone.
func CommandOf(a record.Action) string {
	switch a.Kind {
	case record.KindExec:
		return Quote(a.Argv)
	case record.KindShell:
		return a.Script
	case record.KindFile:
		if a.File.Target != "" {
			return a.File.Op + " " + a.File.Path + " → " + a.File.Target
		}
		return a.File.Op + " " + a.File.Path
	case record.KindFetch:
		return "fetch " + a.URL
	case record.KindMCP:
		return "mcp " + a.Server + "/" + a.Name
	}
	return strings.TrimSpace("event " + a.Name)
}

// CommandName returns a short name for the action: the base name of its command, or its kind.
func (e *Entry) CommandName() string {
	switch e.Action.Kind {
	case record.KindExec:
		return path.Base(e.Action.Argv[0])
	case record.KindShell:
		if c := e.Facts.Shell.Commands; len(c) > 0 && c[0].Name != "" {
			return c[0].Name
		}
	}
	return e.Action.Kind
}

// Ending says how the run ended: "exited with status 2".
func (e *Entry) Ending() string {
	if e.Result == nil {
		return "did not run"
	}
	r := e.Result
	switch r.Status {
	case record.StatusExited:
		return fmt.Sprintf("exited with status %d", r.ExitCode)
	case record.StatusSignaled:
		return "was ended by " + r.Signal
	case record.StatusTimeout:
		return "was ended at its time limit"
	case record.StatusOOM:
		return "was ended at its memory limit"
	}
	return "did not run"
}

// Quote returns argv as a line that a POSIX shell parses into the same words.
func Quote(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = quoteWord(w)
	}
	return strings.Join(words, " ")
}

func quoteWord(w string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("@%_+=:,./-", r) || r > 0x7f
	}
	if w != "" && strings.IndexFunc(w, func(r rune) bool { return !plain(r) }) < 0 {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// Why lists the reasons against the action: how the record contradicts itself, then, strictest first,
// policies that matched, errors that deny, and the sandbox's reason.
func (e *Entry) Why() []Reason {
	var out []Reason
	if e.Decision != nil {
		for _, m := range e.Decision.Matches {
			if m.Effect != record.VerdictAllow {
				out = append(out, Reason{ID: m.ID, Effect: m.Effect, Message: m.Message, Remedy: m.Remedy, File: m.File, Line: m.Line, Pack: m.Pack, Principle: m.Principle})
			}
		}
		for _, p := range e.Decision.Errors {
			reason := Reason{ID: p.Code, Effect: record.VerdictDeny, Message: p.Message}
			if p.ID != "" {
				reason.ID, reason.Message = p.ID, p.Code+": "+p.Message
			}
			out = append(out, reason)
		}
	}
	if r := e.Result; r != nil && r.Status == record.StatusDenied && (len(out) == 0 || !strings.HasPrefix(r.Reason, "decision.") || r.Reason == reasonMismatch) {
		out = append(out, Reason{ID: cmp.Or(r.Reason, "sandbox.refused"), Effect: record.VerdictDeny, Message: r.Message, Remedy: r.Hint})
	}
	if text := e.inconsistent(); text != "" && !slices.ContainsFunc(out, func(r Reason) bool { return r.ID == reasonBroken }) {
		first := Reason{ID: reasonBroken, Effect: record.VerdictDeny, Message: text, Remedy: "do not rely on this record; run the command again"}
		out = slices.Insert(out, 0, first)
	}
	return out
}

// Reason is one reason against an action.
type Reason struct {
	ID        string
	Effect    string // deny | ask | warn
	Message   string
	Remedy    string
	File      string // file with the policy; pack:… for shipped ones; "" without a policy
	Line      int
	Pack      string
	Principle string
}

// clip truncates text at a rune boundary.
func clip(s string, max int) string {
	if len(s) <= max {
		return s
	}
	return strings.ToValidUTF8(s[:max], "")
}

// Session returns the ethos-sandbox session that the action ran in, else the agent's own session,
// or "" if there is neither.
func (e *Entry) Session() string {
	if e.Result != nil && e.Result.Capture.Sandbox.Session != "" {
		return e.Result.Capture.Sandbox.Session
	}
	return e.Actor.Session
}
