package report

import (
	"fmt"
	"strconv"
	"strings"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

// writeSummary ends the report: counts, a table when there is more than one tool, and what was refused with the way out.
func (h *Human) writeSummary() {
	s := h.summary
	if s.actions+s.bad > 1 {
		fmt.Fprintln(h.out)
	}
	if len(s.sessions) > 0 && s.actions > 1 {
		h.table("session", s.sessions)
	}
	if len(s.tools) > 1 {
		h.table("tool", s.tools)
	}
	h.refused()
	h.deniedByLayers()
	h.network()
	for _, line := range wrap(s.headline(), h.cells()) {
		fmt.Fprintln(h.out, h.style.bold(line))
	}
}

// headline is the last line: "3 actions: 1 passed, 2 denied; 4 findings; 1.2 s".
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

// maxTableRows bounds the table on a terminal; the rest is counted.
const maxTableRows = 30

// table is what was counted of each tool, or of each session.
func (h *Human) table(what string, tallies map[string]*tally) {
	rows := sorted(tallies)
	name := len(what)
	for _, r := range rows {
		name = max(name, min(width(visible(r.name)), 40))
	}
	head := []string{"runs", "passed", "failed", "denied", "findings", "time"}
	line := func(first string, cells []string) {
		text := pad(first, name)
		for i, c := range cells {
			text += "  " + padLeft(c, max(len(head[i]), 6))
		}
		h.print("", text)
	}
	line(what, head)
	for i, r := range rows {
		if i == maxTableRows {
			h.print("", fmt.Sprintf("… and %d more %ss", len(rows)-i, what))
			break
		}
		line(fit(visible(r.name), 40), []string{number(r.runs), number(r.passed), number(r.failed), number(r.denied), number(r.findings), orDot(r.ms)})
	}
	fmt.Fprintln(h.out)
}

// orDot is a time, or a dot where nothing ran.
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

// deniedByLayers lists what the sandbox denied, and where what it put aside is kept.
func (h *Human) deniedByLayers() {
	if h.summary.actions < 2 {
		return // the one action has just said it
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

// refused lists what stood against something, each policy once.
func (h *Human) refused() {
	if h.summary.actions < 2 {
		return // the one action has just said it
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
