package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/prove"
)

// smallest finds the smallest set of proposals with which the command of a spec passes, and reports
// whether it is proved.
func smallest(ctx context.Context, sys *cli.System, spec sandbox.Spec, proposals []record.Denial, follow bool, long time.Duration) prove.Result {
	sys.Note(fmt.Sprintf("running it again, for at most %v, in copy-on-write views that are thrown away, without network", long), "")
	r := prove.Smallest(ctx, spec, proposals, follow, prove.Bounds{Runs: prove.DefaultBounds.Runs, Time: long})
	sandbox.Release()
	if r.Proved {
		sys.Note(fmt.Sprintf("proved by %d runs: the command passes with the proposed grants, and fails if one of them is missing", r.Runs), "")
	} else {
		sys.Warn("the proposed grants are not proved: "+printable.Line(r.Why), "")
	}
	return r
}

// proveFailed returns what run does if its command failed: it determines which proposals are
// needed.
func proveFailed(ctx context.Context, sys *cli.System, spec sandbox.Spec, long time.Duration) func(*sandbox.Outcome) {
	return func(out *sandbox.Outcome) {
		proposes := func(d record.Denial) bool { return d.Kind != "" && d.Kind != record.KindLimit && d.Remedy != "" }
		var proposals []record.Denial
		for _, d := range out.Evidence.Denials {
			if proposes(d) {
				proposals = append(proposals, d)
			}
		}
		if out.Status == record.StatusExited && out.ExitCode == 0 || len(proposals) == 0 {
			return
		}
		r := smallest(ctx, sys, spec, proposals, true, long)
		if !r.Proved {
			return
		}
		list := slices.DeleteFunc(out.Evidence.Denials, proposes)
		for _, d := range r.Unneeded {
			d.Reason, d.Remedy, d.Declare = d.Reason+"; the command passes without it", "", ""
			list = append(list, d)
		}
		out.Evidence.Denials = append(list, r.Needed...)
	}
}
