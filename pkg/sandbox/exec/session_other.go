//go:build !linux

package exec

import (
	"context"
	"os"
	"syscall"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/plan"
)

// Session does not exist on this system.
type Session struct{}

// Child does not exist on this system.
type Child struct {
	PID      int
	Terminal *os.File
	Started  time.Time
}

// Start refuses, as [Run] does.
func Start(ctx context.Context, p *plan.Plan, io IO) (*Session, error) {
	_, err := Run(ctx, p, io)
	return nil, err
}

// CheckNarrow accepts everything: no session starts.
func CheckNarrow(*plan.Plan, control.Narrow) error { return nil }

func (*Session) Plan() *plan.Plan                                                   { return nil }
func (*Session) Evidence() record.Sandbox                                           { return record.Sandbox{} }
func (*Session) Done() <-chan struct{}                                              { return nil }
func (*Session) End()                                                               {}
func (*Session) Wait() (Outcome, error)                                             { return Outcome{}, nil }
func (*Session) Spawn(context.Context, Command) (*Child, error)                     { return nil, nil }
func (*Session) SpawnFrom(context.Context, func() (Command, error)) (*Child, error) { return nil, nil }
func (*Session) Expect(context.Context)                                             {}
func (*Session) Prepare()                                                           {}
func (*Session) Spare() int                                                         { return 0 }
func (*Session) Publish(string, bool) (plan.Published, error)                       { return plan.Published{}, nil }
func (*Session) Look(context.Context) []record.Denial                               { return nil }
func (*Child) Wait() (syscall.WaitStatus, error)                                    { return 0, nil }
func (*Child) Signal(syscall.Signal) error                                          { return nil }
func (*Child) Kill()                                                                {}
func (*Child) Killed() string                                                       { return "" }
func (*Child) Unheld() string                                                       { return "" }
func (*Child) Evidence() record.Sandbox                                             { return record.Sandbox{} }
func (*Child) Denials() []record.Denial                                             { return nil }
