package main

import (
	"fmt"
	"io"

	"ethos/pkg/cli"
	"ethos/pkg/decide"
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
func (p people) tell(v decide.Verdict) {
	if p.to == nil || v.Decision.Verdict == record.VerdictAllow {
		return
	}
	reason := hook.Verdict{Decision: &v.Decision, Action: &v.Action, Actor: &v.Actor, Approve: v.Approve(), Never: v.Never}.Reason()
	fmt.Fprintf(p.to, "ethos-decide: %s: %s\n", printable.Line(v.Decision.Verdict), printable.Text(reason))
}
