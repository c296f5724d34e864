package trace

import (
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strings"

	"ethos/pkg/record"
)

// When is the time at which the run began, as RFC 3339, else the one of the record.
func (e *Entry) When() string {
	if e.Ran() && e.Result.Started != "" {
		return e.Result.Started
	}
	return e.Time
}

// Who is the agent and its session in one text; "" when neither is known.
func (e *Entry) Who() string {
	return strings.TrimSpace(e.Actor.Agent + " " + e.Session())
}

// Exit says in a few letters how a run ended that did not end well: "exit 2",
// "SIGKILL", "time limit" or "memory limit". It is "" for every other entry.
func (e *Entry) Exit() string {
	if !e.Ran() {
		return ""
	}
	switch r := e.Result; r.Status {
	case record.StatusExited:
		if r.ExitCode != 0 {
			return fmt.Sprintf("exit %d", r.ExitCode)
		}
	case record.StatusSignaled:
		return r.Signal
	case record.StatusTimeout:
		return "time limit"
	case record.StatusOOM:
		return "memory limit"
	}
	return ""
}

// LastLine is the last line that is not blank of what the command wrote to
// standard error, else to standard output, and how many there are.
func (e *Entry) LastLine() (last string, lines int) {
	if !e.Ran() {
		return "", 0
	}
	for _, s := range []record.Stream{e.Result.Capture.Stdout, e.Result.Capture.Stderr} {
		for line := range strings.Lines(s.Text) {
			if line = strings.TrimSpace(line); line != "" {
				last = line
				lines++
			}
		}
	}
	return last, lines
}

// Likeness is the same for refusals and failures that say the same to a
// reader: the same command of the same directory was refused for the same
// reason, or ended in the same way with the same last line but for its numbers.
// It is false for every other entry, and for one that has more to tell.
func (e *Entry) Likeness() (like [sha256.Size]byte, ok bool) {
	o := e.Outcome()
	parts := []string{string(o), e.Command(), e.Action.Cwd}
	switch o {
	case Denied, Asked, Undecided:
		for _, why := range e.Why() {
			parts = append(parts, why.ID, why.Message, why.Remedy)
		}
	case Failed:
		if len(e.Reported()) > 0 {
			return like, false
		}
		last, _ := e.LastLine()
		parts = append(parts, e.Exit(), withoutNumbers(last))
	default:
		return like, false
	}
	for _, d := range e.Denials() {
		parts = append(parts, d.Layer, d.What, d.Reason, d.Remedy)
	}
	if slices.ContainsFunc(e.Denials(), func(d record.Denial) bool { return d.Kept != "" }) {
		return like, false
	}
	sum := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(sum, "%d:", len(part))
		io.WriteString(sum, part)
	}
	return [sha256.Size]byte(sum.Sum(nil)), true
}

// withoutNumbers is a line without what differs between two runs that fail
// alike: times and counts. Each run of digits is one 0.
func withoutNumbers(line string) string {
	var out strings.Builder
	inside := false
	for _, r := range line {
		digit := r >= '0' && r <= '9'
		switch {
		case !digit:
			out.WriteRune(r)
		case !inside:
			out.WriteByte('0')
		}
		inside = digit
	}
	return out.String()
}
