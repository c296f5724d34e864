package main

import (
	"cmp"
	"errors"
	"fmt"

	"ethos/pkg/ceiling"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
)

// The reasons for which a record does not run, in addition to those of the sandbox.
const (
	reasonDeny    = "decision.deny"
	reasonAsk     = "decision.ask"
	reasonMissing = "decision.missing"
	reasonChanged = "decision.subject_mismatch"
	reasonBroken  = "decision.inconsistent"
	reasonCeiling = "decision.ceiling"
)

// judge says why a record must not run, or returns nil if it may. The error is for an invalid
// record.
func judge(line *record.Line) (*sandbox.Refusal, error) {
	var d record.Decision
	err := line.Decode("decision", &d)
	if errors.Is(err, record.ErrAbsent) {
		return refusal(reasonMissing, "pass it through ethos-decide first", "the record has no decision"), nil
	}
	if err != nil {
		return nil, err
	}
	subject, err := line.Subject()
	if err != nil {
		return nil, err
	}
	if subject != d.Subject {
		return refusal(reasonChanged, "decide it again: ethos-decide", "the record was changed after it was decided: its subject is %s, the decision's is %s", subject, d.Subject), nil
	}
	var actor record.Actor
	if err := line.Decode("actor", &actor); err != nil {
		return nil, err
	}
	if why := d.Broken(actor.AdminApproved); why != "" {
		return refusal(reasonBroken, "decide it again: ethos-decide", "the decision was changed: %s", why), nil
	}
	switch c, err := ceiling.InForce(); {
	case err != nil:
		return refusal(sandbox.CodeSetup, "ask the administrator to fix it; ethos-decide ceiling shows what is read", "%w", err), nil
	case c != nil && c.Digest != d.Policy.Ceiling:
		return refusal(reasonCeiling, "decide it again: ethos-decide", "it was not decided under the limits that are now in %s", ceiling.Dir), nil
	}
	switch d.Verdict {
	case record.VerdictAllow, record.VerdictWarn:
		return nil, nil
	case record.VerdictAsk:
		return refusal(reasonAsk, "a person can let it pass once: ethos-decide approve "+line.ID(), "%s", message(d, "a person must approve it")), nil
	}
	return refusal(reasonDeny, remedy(d), "%s", message(d, "policy denies it")), nil
}

func refusal(code, hint, format string, args ...any) *sandbox.Refusal {
	return &sandbox.Refusal{Code: code, Err: fmt.Errorf(format, args...), Hint: hint}
}

func message(d record.Decision, otherwise string) string {
	switch {
	case len(d.Matches) > 0:
		return d.Matches[0].ID + ": " + d.Matches[0].Message
	case len(d.Errors) > 0:
		return cmp.Or(d.Errors[0].ID, d.Errors[0].Code) + ": " + d.Errors[0].Message
	}
	return otherwise
}

func remedy(d record.Decision) string {
	if len(d.Matches) > 0 {
		return d.Matches[0].Remedy
	}
	return ""
}
