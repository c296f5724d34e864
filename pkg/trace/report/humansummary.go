package report

import (
	"fmt"
	"strconv"
	"strings"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

// writeSummary writes the end of the report: counts, a table if there is more than one tool, and
// refusals with their remedies.
func (h *Human) writeSummary() {
	s := h.summary
	if s.actions+s.bad > 1 {
		fmt.Fprintln(h.out)
	}
	h.failed()
	h.refused()
	h.deniedByLayers()
	if s.actions > 1 && len(s.reasons)+len(s.denied.rows) > 0 {
		fmt.Fprintln(h.out)
	}
	h.network()
	if len(s.sessions) > 0 && s.actions > 1 {
		h.table(whoTitle, s.sessions)
	}
	if len(s.tools) > 1 {
		h.table("tool", s.tools)
	}
	h.legend()
	for _, line := range wrap(s.headline(), h.cells()) {
		fmt.Fprintln(h.out, h.style.bold(line))
	}
}

// headline returns the last line: "3 actions: 2 denied, 1 passed; 4 findings; 1.2 s".
func (s *summary) headline() string {
	parts := []string{}
	for _, o := range outcomeOrder() {
		if n := s.outcomes[o]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	text := Count(s.actions, "action")
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if s.findings > 0 {
		text += "; " + Count(s.findings, "finding")
	}
	if s.denials > 0 {
		text += "; " + Count(s.denials, "denial") + " by the sandbox"
	}
	if s.bad > 0 {
		text += "; " + Count(s.bad, "invalid line")
	}
	if s.compared {
		text += fmt.Sprintf("; %d new since the baseline", s.fresh)
	}
	if s.ran > 0 {
		text += "; ran for " + span(s.ran)
	}
	return text
}

// maxTableRows limits the table on a terminal; the rest is counted.
const maxTableRows = 30

// maxTableName and leastColumn are widths in the table, in cells.
const (
	maxTableName = 45
	leastColumn  = 5
)

// table writes the counts per tool, or per session.
func (h *Human) table(what string, tallies map[string]*tally) {
	rows, head := sorted(tallies), tallyHead()
	name, room := len(what), maxTableName
	if cells := h.cells(); cells > 0 {
		for _, c := range head {
			cells -= max(len(c), leastColumn) + 1
		}
		room = min(room, max(cells-3, leastColumn)) // a time may take eight
	}
	for _, r := range rows {
		name = max(name, width(visible(r.name)))
	}
	name = min(name, room)
	line := func(first string, cells []string) {
		text := pad(fit(first, name), name)
		for i, c := range cells {
			text += " " + padLeft(c, max(len(head[i]), leastColumn))
		}
		if cells := h.cells(); cells > 0 {
			text = fit(text, cells)
		}
		fmt.Fprintln(h.out, text)
	}
	line(what, head)
	for i, r := range rows {
		if i == maxTableRows {
			h.print("", fmt.Sprintf("… and %d more", len(rows)-i))
			break
		}
		line(visible(r.name), r.cells())
	}
	fmt.Fprintln(h.out)
}

// orDot returns a time, or a dot if nothing ran.
func orDot(ms float64) string {
	if ms == 0 {
		return "·"
	}
	return span(ms)
}

func number(n int) string {
	if n == 0 {
		return "·"
	}
	return strconv.Itoa(n)
}

// failed lists the failures by agent and session, each once.
func (h *Human) failed() {
	l := &h.summary.failures
	if h.summary.actions < 2 || len(l.rows) == 0 {
		return // already shown for the only action
	}
	groups, listed := l.grouped(), 0
	for _, rows := range groups {
		if len(groups) > 1 {
			h.print("", h.style.bold(visible(whoever(rows[0].who))))
		}
		for _, r := range rows {
			if listed++; listed > maxFindings {
				continue
			}
			h.row(trace.Failed, "", r.command, times(r.times)+bracketed(r.exit), r.last)
		}
	}
	if more := len(l.rows) + l.more - maxFindings; more > 0 {
		h.note(fmt.Sprintf("… and %d more that failed: ethos-trace ls --outcome failed", more))
	}
	fmt.Fprintln(h.out)
}

// legend explains terms that a new reader may not know, next to them.
func (h *Human) legend() {
	if h.summary.actions < 2 {
		return
	}
	for _, o := range outcomeOrder() {
		if o == trace.Failed || o == trace.Denied || o == trace.Passed || h.summary.outcomes[o] == 0 {
			continue
		}
		h.hang(h.style.outcome(o, pad(string(o), outcomeCells))+noteIndent, meaning(o))
	}
}

// deniedByLayers lists what the sandbox denied, and where quarantined files are kept.
func (h *Human) deniedByLayers() {
	if h.summary.actions < 2 {
		return // already shown for the only action
	}
	l := &h.summary.denied
	for i, row := range l.rows {
		if i == maxFindings {
			h.note(fmt.Sprintf("… and %d more by the sandbox", len(l.rows)-i+l.more))
			return
		}
		h.hang(h.style.effect(record.VerdictDeny, pad("denied", outcomeCells))+noteIndent, fmt.Sprintf("%s ×%d: %s: %s", trace.RuleDenial, row.times, row.Layer, row.What))
		if row.Kept != "" {
			h.note("kept in: " + row.Kept)
		}
		if row.Remedy != "" {
			h.note("remedy: " + row.Remedy)
		}
	}
}

// refused lists the policies that refused something, each once.
func (h *Human) refused() {
	if h.summary.actions < 2 {
		return // already shown for the only action
	}
	for _, r := range h.summary.sortedReasons() {
		verb := map[string]string{record.VerdictDeny: "denied", record.VerdictAsk: "asked", record.VerdictWarn: "warned"}[r.Effect]
		h.hang(h.style.effect(r.Effect, pad(verb, outcomeCells))+noteIndent, fmt.Sprintf("%s ×%d: %s", r.ID, r.count, r.Message))
		for _, c := range r.examples {
			h.print(indent, noteIndent+"$ "+oneLine(c))
		}
		if more := r.count - len(r.examples); more > 0 && len(r.examples) == maxExamples {
			h.note(fmt.Sprintf("… and %d more", more))
		}
		if r.Remedy != "" {
			h.note("remedy: " + r.Remedy)
		}
		if r.File != "" {
			h.note(fmt.Sprintf("policy: %s:%d", r.File, r.Line))
		}
	}
}
