package report

import (
	"fmt"
	"strings"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

// Table writes entries as the lines of a list.
type Table struct {
	style style
	cells func() int
}

// NewTable returns a table for an output.
func NewTable(t Terminal) *Table {
	table := &Table{style: style{t.Color}, cells: func() int { return plainWidth }}
	if t.Width != nil {
		table.cells = t.Width
	}
	return table
}

// idTail is how much of an id a list shows: its random end, which show accepts.
const idTail = 12

// Entry is the line of an entry: id, when it ran, outcome, duration, command,
// how it ended with the last line of what it printed, how much the sandbox
// denied it, and the policies against it.
func (t *Table) Entry(e *trace.Entry) string {
	took := ""
	if e.Ran() {
		took = span(e.Result.DurationMS)
	}
	o := e.Outcome()
	last := ""
	if o == trace.Failed {
		last, _ = e.LastLine()
	}
	if cells := t.cells(); cells > 0 {
		last = fit(visible(last), (cells-idTail-len(stampLayout)-outcomeCells)/3)
	}
	end := bracketed(ending(e.Exit(), last), counted(len(e.Denials()), "denial")) + bracketed(against(e.Reasons()))
	return t.line(e.Line.ID(), e.When(), t.style.outcome(o, pad(string(o), outcomeCells)), padLeft(took, 9)+"  "+oneLine(e.Command()), visible(end))
}

// against is who refused: the policy that the reader was told of, and how many
// more.
func against(reasons []string) string {
	if len(reasons) < 3 {
		return strings.Join(reasons, ", ")
	}
	return fmt.Sprintf("%s and %d more", reasons[0], len(reasons)-1)
}

// Invalid is the line of an error line.
func (t *Table) Invalid(id string, e record.Error) string {
	return t.line(id, "", t.style.outcome(trace.Denied, pad("invalid", outcomeCells)), padLeft("", 9)+"  "+e.Code+": "+e.Message, "")
}

// stampLayout is the time of a line, in the time zone of who reads it.
const stampLayout = "2006-01-02 15:04:05 -0700"

// line has end after its text, also where that is cut.
func (t *Table) line(id, stamp, outcome, text, end string) string {
	short := id[max(len(id)-idTail, 0):]
	if made, err := time.Parse(time.RFC3339Nano, stamp); err == nil {
		stamp = made.Local().Format(stampLayout)
	}
	head := pad(visible(short), idTail) + "  " + pad(stamp, len(stampLayout)) + "  "
	text = visible(text)
	if cells := t.cells(); cells > 0 {
		text = fit(text, cells-width(head)-outcomeCells-width(end))
	}
	return strings.TrimRight(head+outcome+text+end, " ") + "\n"
}

// field is a line of a detail.
func field(name, value string) string { return fmt.Sprintf("%-10s %s\n", name, value) }
