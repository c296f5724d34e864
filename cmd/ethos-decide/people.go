package main

import (
	"fmt"
	"io"

	"ethos/pkg/cli"
	"ethos/pkg/hook"
	"ethos/pkg/printable"
	"ethos/pkg/record"
)

// people is where refusals are told in words: standard error, when standard output is a terminal. A filter in a pipe is quiet.
type people struct{ to io.Writer }

func watchedBy(sys *cli.System) people {
	if cli.IsTerminal(sys.Stdout) {
		return people{sys.Stderr}
	}
	return people{}
}

// tell says what was refused, and what would be allowed.
func (p people) tell(v verdict) {
	if p.to == nil || v.decision.Verdict == record.VerdictAllow {
		return
	}
	reason := hook.Verdict{Decision: &v.decision, Action: &v.action, Actor: &v.actor, Approve: v.approve(), Never: v.never}.Reason()
	fmt.Fprintf(p.to, "ethos-decide: %s: %s\n", printable.Line(v.decision.Verdict), printable.Text(reason))
}

// approve is the command by which a person lets the call pass; "" where none
// does.
func (v *verdict) approve() string {
	if !v.passable || allows(v.decision.Verdict) {
		return ""
	}
	return "ethos-decide approve " + printable.Word(v.id)
}
