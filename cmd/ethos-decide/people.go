package main

import (
	"fmt"
	"io"
	"os"

	"ethos/pkg/cli"
	"ethos/pkg/hook"
	"ethos/pkg/record"
)

// people is where refusals are told in words: standard error, when standard output is a terminal. A filter in a pipe is quiet.
type people struct{ to io.Writer }

func watchedBy(sys *cli.System) people {
	if isTerminal(sys.Stdout) {
		return people{sys.Stderr}
	}
	return people{}
}

// isTerminal tells a terminal from files, pipes and the null device.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// tell says what was refused, and what would be allowed.
func (p people) tell(v verdict) {
	if p.to == nil || v.decision.Verdict == record.VerdictAllow {
		return
	}
	reason := hook.Verdict{Decision: &v.decision, Action: &v.action, Actor: &v.actor}.Reason()
	fmt.Fprintf(p.to, "ethos-decide: %s: %s\n", v.decision.Verdict, reason)
}
