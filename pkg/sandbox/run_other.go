//go:build !linux

package sandbox

import (
	"context"
	"os"
	"runtime"
	"syscall"
	"time"

	"ethos/pkg/record"
)

// IO is what a run has to do with its surroundings.
type IO struct {
	Stdin, Stdout, Stderr *os.File
	Signals               <-chan os.Signal
	Captured              bool
}

// Outcome is how a command ended.
type Outcome struct {
	Status   string
	ExitCode int
	Signal   syscall.Signal
	Started  time.Time
	Duration time.Duration
	Evidence record.Sandbox
	Lost     bool
}

// Release has nothing to give back on this system.
func Release() {}

// Run refuses: there is no boundary on this system, and nothing runs without one.
func Run(_ context.Context, p *Plan, _ IO) (Outcome, error) {
	err := refuse(CodeUnsupported, "run it on Linux 5.13 or newer, for instance in a virtual machine", "%s has no boundary that ethos-sandbox can enforce", runtime.GOOS)
	e := Requested(p)
	e.Denied, e.Reason = true, err.Error()
	return Outcome{Evidence: e}, err
}
