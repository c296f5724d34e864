package trace

import (
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strings"

	"ethos/pkg/record"
)

// When returns the time at which the run began, as RFC 3339, else the time of
// the record.
func (e *Entry) When() string {
	if e.Ran() && e.Result.Started != "" {
		return e.Result.Started
	}
	return e.Time
}

// Who returns the agent and its session as one text, or "" if neither is known.
func (e *Entry) Who() string {
	return strings.TrimSpace(e.Actor.Agent + " " + e.Session())
}

// Exit returns a short text for a run that did not succeed: "exit 2",
// "SIGKILL", "time limit" or "memory limit". It is "" for every other entry.
func (e *Entry) Exit() string {
	if !e.Ran() {
		return ""
	}
	switch r := e.Result; r.Status {
	case record.StatusExited:
		switch {
		case r.Signal != "": // no program of ethos writes both
			return r.Signal
		case r.ExitCode != 0:
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

// LastLine returns the last non-blank line of standard error, else of standard
// output, and the number of such lines.
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

// Likeness returns a value that is equal for refusals and failures that look
// the same to a reader: the same command in the same directory was refused for
// the same reason, or ended in the same way with the same last line, ignoring
// numbers. ok is false for every other entry, and for one that has more to
// report.
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

// withoutNumbers removes from a line what differs between two equal failures:
// times and counts. Each run of digits becomes one 0.
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
