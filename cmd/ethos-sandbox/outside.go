package main

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
)

// decidePatience is the time limit for one decision.
const decidePatience = 10 * time.Second

// outside asks policy about what ethos itself does outside for a command, which
// no hook and no git wrapper has seen. The two programs start with the first
// request and stay.
type outside struct {
	sys             *cli.System
	workspace, mode string
	mu              sync.Mutex // one decision at a time
	judges          *judges
	stop            context.CancelFunc
}

// planOf makes the plan for a spec, for a command that works in a mode; "" is
// the mode of the environment.
func planOf(sys *cli.System, spec sandbox.Spec, mode string) (*sandbox.Plan, error) {
	plan, err := sandbox.Build(spec, sandbox.HostFiles{}, os.Geteuid())
	if err == nil {
		plan.Decide = (&outside{sys: sys, workspace: plan.Workspace, mode: mode}).decide
	}
	return plan, err
}

// decide says why policy does not allow an action: a [*sandbox.Refusal].
func (o *outside) decide(ctx context.Context, a record.Action) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.begin(ctx); err != nil {
		return refusalOf(err)
	}
	timer := time.AfterFunc(decidePatience, o.stop)
	_, err := o.judges.judge(a)
	if !timer.Stop() || o.judges.ended {
		o.end() // new processes decide the next one
	}
	return refusalOf(err)
}

// begin finds and starts the programs unless they are running. They end with
// the context.
func (o *outside) begin(ctx context.Context) error {
	if o.judges != nil {
		return nil
	}
	sys := *o.sys
	sys.Dir = o.workspace
	ctx, stop := context.WithCancel(ctx)
	judges, err := newJudges(ctx, &sys, gitSignatures, o.workspace, o.mode, true)
	if err != nil {
		stop()
		return err
	}
	o.judges, o.stop = judges, stop
	context.AfterFunc(ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.judges == judges {
			o.end()
		}
	})
	return nil
}

func (o *outside) end() {
	o.judges.close()
	o.judges = nil
	o.stop()
}

func refusalOf(err error) error {
	if err == nil {
		return nil
	}
	r := &sandbox.Refusal{Code: reasonDeny, Err: err}
	if e := (*cli.Error)(nil); errors.As(err, &e) {
		r.Err, r.Hint = e.Err, e.Hint
	}
	return r
}
