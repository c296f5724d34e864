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

// idTail is the number of characters of an id in a list: its random end, which
// show accepts.
const idTail = 12

// Entry returns the line of an entry: id, time, outcome, duration, command, how
// it ended with the last line of its output, how much the sandbox denied it,
// and the policies against it.
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
	end := bracketed(ending(e.Exit(), last), counted(len(e.Denials()), "denial")) + bracketed(against(refusals(e)))
	return t.line(e.Line.ID(), e.When(), t.style.outcome(o, pad(string(o), outcomeCells)), padLeft(took, 9)+"  "+oneLine(e.Command()), visible(end))
}

// refusals returns the reasons of an entry: the policies against it, or, if there
// are none, the code for which the sandbox refused it.
func refusals(e *trace.Entry) []string {
	list := e.Reasons()
	if len(list) == 0 && e.Result != nil && e.Result.Status == record.StatusDenied && e.Result.Reason != "" {
		list = []string{e.Result.Reason}
	}
	return list
}

// against returns the policy that the reader was told of, and the number of
// further ones.
func against(reasons []string) string {
	if len(reasons) < 3 {
		return strings.Join(reasons, ", ")
	}
	return fmt.Sprintf("%s and %d more", reasons[0], len(reasons)-1)
}

// Invalid returns the line for an error line.
func (t *Table) Invalid(id string, e record.Error) string {
	return t.line(id, "", t.style.outcome(trace.Denied, pad("invalid", outcomeCells)), padLeft("", 9)+"  "+e.Code+": "+e.Message, "")
}

// stampLayout is the time format of a line, in the reader's time zone.
const stampLayout = "2006-01-02 15:04:05 -0700"

// leastText is what a line keeps of its text: the duration, and the beginning of
// the command. That is what a terminal of 80 cells has for a line without end.
const leastText = 29

// line returns a line that keeps end even if its text is truncated. It is longer
// than the terminal is wide, and wraps there, rather than hide the command.
func (t *Table) line(id, stamp, outcome, text, end string) string {
	short := id[max(len(id)-idTail, 0):]
	if made, err := time.Parse(time.RFC3339Nano, stamp); err == nil {
		stamp = made.Local().Format(stampLayout)
	}
	head := pad(visible(short), idTail) + "  " + pad(stamp, len(stampLayout)) + "  "
	text = visible(text)
	if cells := t.cells(); cells > 0 {
		text = fit(text, max(cells-width(head)-outcomeCells-width(end), leastText))
	}
	return strings.TrimRight(head+outcome+text+end, " ") + "\n"
}

func field(name, value string) string { return fmt.Sprintf("%-10s %s\n", name, value) }
