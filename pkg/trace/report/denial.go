package report

import (
	"cmp"
	"fmt"
	"strings"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

// denialLine returns a sandbox denial in the form of a finding.
func denialLine(d record.Denial) string {
	parts := []string{"error"}
	for _, part := range []string{d.Layer, d.What, d.Reason + d.Guess()} {
		if part != "" {
			parts = append(parts, oneLine(part))
		}
	}
	return strings.Join(parts, ": ") + " [" + trace.RuleDenial + "]"
}

// denials prints what the sandbox denied, where quarantined files are kept and,
// after each group with the same remedy, that remedy.
func (h *Human) denials(e *trace.Entry) {
	denied := e.Denials()
	for i, d := range denied {
		if i == maxFindings {
			h.note(fmt.Sprintf("… and %d more (ethos-trace show %s)", len(denied)-i, e.Line.ID()))
			return
		}
		h.note(denialLine(d))
		if d.Kept != "" {
			h.note("kept in: " + d.Kept)
		}
		last := i+1 == len(denied) || i+1 == maxFindings || denied[i+1].Remedy != d.Remedy
		if d.Remedy != "" && last {
			h.note("remedy: " + d.Remedy)
		}
	}
}

// bracketed returns the end of an action's line: its parts in brackets.
func bracketed(parts ...string) string {
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	if len(said) == 0 {
		return ""
	}
	return "  (" + strings.Join(said, ", ") + ")"
}

// counted is like Count, but returns "" for 0.
func counted(n int, noun string) string {
	if n == 0 {
		return ""
	}
	return Count(n, noun)
}

// deniedRow is a denial in the overall list. It appears once, however many runs
// met it.
type deniedRow struct {
	record.Denial
	number int // number of the first action that met it
	times  int
}

// deniedRows collects denials in limited memory.
type deniedRows struct {
	folded[record.Denial, deniedRow]
}

// maxDenied and maxDeniedText limit the overall list.
const (
	maxDenied     = 100
	maxDeniedText = 600
)

func (l *deniedRows) add(d record.Denial, number int) {
	for _, text := range []*string{&d.Layer, &d.What, &d.Reason, &d.Path, &d.Kept, &d.Remedy} {
		*text = clip(*text, maxDeniedText)
	}
	kept, remedy := d.Kept, d.Remedy
	d.Kept = "" // a second run's file has another name, which the remedy may contain
	if kept != "" {
		d.Remedy = ""
	}
	if row := l.row(d, maxDenied, func() deniedRow { return deniedRow{Denial: d, number: number} }); row != nil {
		row.times++
		row.Kept, row.Remedy = cmp.Or(kept, row.Kept), cmp.Or(remedy, row.Remedy)
	}
}
