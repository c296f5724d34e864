package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

const (
	tailLines   = 12 // of a failed command's output
	maxFindings = 20 // of one action
	plainWidth  = 0  // no limit
)

// Human writes lines for people: one per action, and a summary. On a terminal each running action
// has a live line at the bottom. Lines are buffered until Flush or Close. It is not safe for
// concurrent use.
type Human struct {
	out     *bufio.Writer
	style   style
	cells   func() int // width of the terminal; 0 means no limit
	live    *live      // nil if out is not a terminal
	summary *summary
}

// NewHuman returns a Human that writes to out as described by t. The zero Terminal means plain
// lines.
func NewHuman(out io.Writer, t Terminal, now func() time.Time) *Human {
	h := &Human{out: bufio.NewWriter(out), style: style{t.Color}, cells: func() int { return plainWidth }, summary: newSummary()}
	if t.Width != nil {
		h.cells = t.Width
	}
	if t.Live {
		h.live = newLive(h.cells, now)
	}
	return h
}

// Tick redraws the live lines.
func (h *Human) Tick() error {
	if h.live == nil {
		return nil
	}
	h.live.draw(h.out)
	return h.out.Flush()
}

// Output records that an action is running, and its last line of output.
func (h *Human) Output(id string, o record.Output) error {
	switch {
	case h.live == nil:
	case o.Queued:
		h.live.waits(id)
	case o.Action != nil:
		h.live.started(id, trace.CommandOf(*o.Action))
	default:
		h.live.output(id, o.Text)
	}
	return nil
}

// Action writes the line of an action, and below it what went wrong. Repetitions are not shown
// again.
func (h *Human) Action(e *trace.Entry) error {
	h.erase(e.Line.ID())
	again := h.summary.add(e)
	h.line(e, again)
	if again > 1 {
		return nil
	}
	h.why(e)
	h.findings(e)
	h.denials(e)
	if e.Outcome() == trace.Failed {
		h.tail(e)
	}
	return nil
}

// Bad writes the line of an error line.
func (h *Human) Bad(id string, e record.Error) error {
	h.erase(id)
	h.summary.addBad(e)
	h.hang(h.style.outcome(trace.Denied, "invalid  ")+noteIndent, fmt.Sprintf("line %d of ethos-%s: %s: %s", e.Line, e.Stage, e.Code, e.Message))
	return nil
}

// Flush writes the lines so far.
func (h *Human) Flush() error { return h.out.Flush() }

func (h *Human) erase(id string) {
	if h.live != nil {
		h.live.done(id)
		h.live.erase(h.out)
	}
}

// print writes one line: a head of outcomeCells cells that may contain colours, and text that is
// made printable and cut to the width.
func (h *Human) print(head, text string) {
	text = visible(text)
	if cells := h.cells(); cells > 0 {
		text = fit(text, cells-outcomeCells)
	}
	fmt.Fprintln(h.out, strings.TrimRight(head+text, " "))
}

// note writes text below an action, on as many lines as necessary.
func (h *Human) note(text string) { h.hang(indent+noteIndent, text) }

// hang writes text after a head, with further lines aligned below the first.
func (h *Human) hang(head, text string) {
	room := 0
	if cells := h.cells(); cells > 0 {
		room = max(cells-len(noteIndent)-outcomeCells, 20)
	}
	for _, line := range wrap(visible(text), room) {
		fmt.Fprintln(h.out, strings.TrimRight(head+line, " "))
		head = indent + noteIndent
	}
}

// noteIndent is the column of times.
const noteIndent = "         "

// outcomeCells is the width of the first column.
const outcomeCells = len(indent)

// line writes the row of an action: outcome, time, command and how it ended, with the last line of
// its output if it failed.
func (h *Human) line(e *trace.Entry, again int) {
	outcome := e.Outcome()
	took, last, folded := "", "", ""
	if e.Ran() {
		took = span(e.Result.DurationMS)
	}
	if outcome == trace.Failed {
		last, _ = e.LastLine()
	}
	if again > 1 {
		folded = "as above" + times(again)
	}
	h.row(outcome, took, e.Command(), bracketed(e.Exit(), counted(len(e.Reported()), "finding"), counted(len(e.Denials()), "denial"), folded), last)
}

// row writes the columns of a row. If the last line of the output needs more space, the command
// gets at most two thirds.
func (h *Human) row(outcome trace.Outcome, took, command, end, last string) {
	command, end, last = visible(oneLine(command)), visible(end), visible(last)
	if last != "" {
		last = "  │ " + last
	}
	if cells := h.cells(); cells > 0 {
		room := cells - outcomeCells - len(noteIndent) - width(end)
		if last != "" {
			command = fit(command, max(room*2/3, room-width(last)))
		}
		command = fit(command, room)
		last = fit(last, room-width(command))
	}
	h.print(h.style.outcome(outcome, pad(string(outcome), outcomeCells)), padLeft(took, 8)+" "+command+end+last)
}

// oneLine returns a command or message as one line of limited length, so that further lines cannot
// hide anything.
func oneLine(s string) string {
	lines := strings.FieldsFunc(clip(s, 2000), func(r rune) bool { return r == '\n' || r == '\r' })
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, " ⏎ ")
}

// indent is the space before text below an action.
const indent = "         "

// why shows the reasons against the action: the strictest one with its remedy, the others by name.
func (h *Human) why(e *trace.Entry) {
	why := e.Why()
	if len(why) == 0 {
		return
	}
	h.note(why[0].ID + ": " + why[0].Message)
	if why[0].Remedy != "" {
		h.note("remedy: " + why[0].Remedy)
	}
	if rest := ids(why[1:]); rest != "" {
		h.note("also: " + rest)
	}
}

// ids lists the names of reasons on one line.
func ids(reasons []trace.Reason) string {
	names := make([]string, len(reasons))
	for i, r := range reasons {
		names[i] = r.ID
	}
	return strings.Join(names, ", ")
}

func (h *Human) findings(e *trace.Entry) {
	found := e.Reported()
	for i, f := range found {
		if i == maxFindings {
			h.note(fmt.Sprintf("… and %d more", len(found)-i))
			return
		}
		h.note(findingLine(f))
	}
}

func findingLine(f trace.Finding) string {
	text := place(f)
	if text != "" {
		text += ": "
	}
	text += string(f.Level) + ": " + oneLine(f.Message)
	if f.Rule != "" {
		text += " [" + f.Rule + "]"
	}
	return text
}

// place returns path:line:column as far as it is known.
func place(f trace.Finding) string {
	text := f.Path
	if text != "" && f.Line > 0 {
		text += fmt.Sprintf(":%d", f.Line)
		if f.Column > 0 {
			text += fmt.Sprintf(":%d", f.Column)
		}
	}
	return text
}

// tail shows the end of a failed command's output, if that is more than the line in its row.
func (h *Human) tail(e *trace.Entry) {
	if last, lines := e.LastLine(); lines < 2 && (h.cells() == plainWidth || width(visible(last)) < h.cells()/3) {
		if c := e.Result.Capture; c.Stdout.Base64+c.Stderr.Base64 == "" && !c.Stdout.Truncated && !c.Stderr.Truncated {
			return
		}
	}
	for _, s := range []struct {
		name   string
		stream record.Stream
	}{{"stdout", e.Result.Capture.Stdout}, {"stderr", e.Result.Capture.Stderr}} {
		last, before := tail(s.stream.Text, tailLines)
		if s.stream.Base64 != "" {
			last = []string{fmt.Sprintf("(%d bytes that are not text)", s.stream.Bytes)}
		}
		if before > 0 || s.stream.Truncated {
			h.note(fmt.Sprintf("%s: … %s before", s.name, Count(before, "line")))
		}
		for _, line := range last {
			h.print(indent, noteIndent+"│ "+strings.TrimRight(line, "\r"))
		}
	}
}

// Fresh implements [Sink].
func (h *Human) Fresh(n int) { h.summary.compare(n) }

// Close writes the summary.
func (h *Human) Close() error {
	if h.live != nil {
		h.live.erase(h.out)
	}
	h.writeSummary()
	return h.out.Flush()
}
