//go:build unix

package exec

import (
	"os"
	"syscall"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/signals"
)

// The exit statuses of a program that runs one command, in addition to the command's own:
// those of timeout(1) and env(1).
const (
	StatusTimeout  = 124
	StatusRefused  = 125 // nothing ran
	StatusNotExec  = 126
	StatusNotFound = 127
	StatusSignal   = 128 // plus the number of the signal that ended the command
)

// ExitStatus returns the exit status of a program that ran the command and passes on how it
// ended.
func (o Outcome) ExitStatus() int {
	switch o.Status {
	case record.StatusTimeout:
		return StatusTimeout
	case record.StatusOOM:
		return StatusSignal + int(syscall.SIGKILL)
	case record.StatusSignaled:
		return StatusSignal + int(o.Signal)
	}
	return o.ExitCode
}

// RefusedStatus returns the exit status of such a program if nothing ran.
func RefusedStatus(code string) int {
	switch code {
	case plan.CodeNotFound:
		return StatusNotFound
	case plan.CodeNotExec:
		return StatusNotExec
	}
	return StatusRefused
}

// Forwarded returns the signals that a user or a terminal sends to a command, except those
// that this process was started to ignore, as under nohup(1).
func Forwarded() []os.Signal {
	list := []os.Signal{syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGALRM}
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if !signals.Ignored(s) {
			list = append(list, s)
		}
	}
	return list
}
