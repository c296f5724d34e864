package main

import (
	"fmt"
	"io"

	"ethos/pkg/cli"
	"ethos/pkg/hook"
	"ethos/pkg/printable"
	"ethos/pkg/record"
)

// people is where refusals are explained in words: standard error, if standard output is a
// terminal. A filter in a pipe prints nothing.
type people struct{ to io.Writer }

func watchedBy(sys *cli.System) people {
	if cli.IsTerminal(sys.Stdout) {
		return people{sys.Stderr}
	}
	return people{}
}

// tell prints what was refused, and what would be allowed.
func (p people) tell(v verdict) {
	if p.to == nil || v.decision.Verdict == record.VerdictAllow {
		return
	}
	reason := hook.Verdict{Decision: &v.decision, Action: &v.action, Actor: &v.actor, Approve: v.approve(), Never: v.never}.Reason()
	fmt.Fprintf(p.to, "ethos-decide: %s: %s\n", printable.Line(v.decision.Verdict), printable.Text(reason))
}

// approve returns the command with which a person allows the call, or "" if there is none.
func (v *verdict) approve() string {
	if !v.passable || allows(v.decision.Verdict) {
		return ""
	}
	return "ethos-decide approve " + printable.Word(v.id)
}
