package report

import (
	"ethos/pkg/record"
	"ethos/pkg/trace"
)

// style colours text if colours are enabled (ECMA-48, SGR).
type style struct{ color bool }

func (s style) sgr(code, text string) string {
	if !s.color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(text string) string { return s.sgr("1", text) }

func (s style) outcome(o trace.Outcome, text string) string {
	switch o {
	case trace.Passed, trace.Allowed:
		return s.sgr("32", text)
	case trace.Found:
		return s.sgr("33", text)
	case trace.Asked, trace.Undecided:
		return s.sgr("35", text)
	case trace.Reported:
		return s.sgr("2", text)
	}
	return s.sgr("31", text)
}

func (s style) effect(effect, text string) string {
	switch effect {
	case record.VerdictDeny:
		return s.sgr("31", text)
	case record.VerdictAsk:
		return s.sgr("35", text)
	}
	return s.sgr("33", text)
}
