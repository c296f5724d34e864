package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"ethos/pkg/signals"
	"ethos/pkg/timerslack"
)

// Main runs a program in the current process and ends the process.
func Main(p Program) {
	end(p.Name, func(ctx context.Context, sys *System, args []string) Status {
		if !asksVersion(args) { // which needs nothing
			ctx.(*interruptible).caught()
		}
		return p.Run(ctx, sys, args)
	})
}

// MainRaw is like [Main], for a program that parses its own arguments. Signals are caught from the
// first use of the context's end. Until then they have their default action, which matters for a
// program that replaces itself with another one.
func MainRaw(name string, run func(context.Context, *System, []string) Status) {
	end(name, func(ctx context.Context, sys *System, args []string) Status {
		if err := sys.placed(Runner); err != nil {
			status, message, hint := statusOf(Runner, err)
			sys.Fail(message, hint)
			return status
		}
		return run(ctx, sys, args)
	})
}

func end(name string, run func(context.Context, *System, []string) Status) {
	timerslack.Restore()
	os.Exit(int(start(name, run)))
}

// start runs the program with the process's own streams. If a signal ended the program, start ends
// the process by that signal.
func start(name string, run func(context.Context, *System, []string) Status) Status {
	sys := realSystem(name)
	ctx := &interruptible{}
	status := run(ctx, sys, os.Args[1:])
	if status != Interrupted {
		return status
	}
	if by, ok := ctx.cause().(signalled); ok {
		dieBy(by.signal)
		return SignalBase + Status(by.signal)
	}
	return status
}

// Interrupted is the status of a program that ended because its context ended; [Main] turns it into
// the signal.
const Interrupted Status = -1

type signalled struct{ signal syscall.Signal }

func (s signalled) Error() string { return s.signal.String() }

// dieBy ends the process by a signal, as the signal's default action would.
func dieBy(sig syscall.Signal) {
	signals.Reset(sig)
	if syscall.Kill(os.Getpid(), sig) == nil {
		time.Sleep(time.Second) // the signal may arrive with a delay
	}
}

func realSystem(name string) *System {
	sys := &System{
		Name: name, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(), Now: time.Now,
	}
	sys.Dir, sys.noDirectory = os.Getwd()
	return sys.rooted()
}

// SystemOf returns the system that a process would have whose standard streams and
// environment these are, as it was given them, in the working directory of this
// one, which is dir.
func SystemOf(name string, in io.Reader, out, errs io.Writer, dir string, environ []string) *System {
	sys := &System{Name: name, Stdin: in, Stdout: out, Stderr: errs, Environ: Environ(environ), Now: time.Now, Dir: dir}
	at, err := os.Stat(".")
	if sys.noDirectory = err; err != nil {
		return sys
	}
	if pwd := sys.Getenv("PWD"); filepath.IsAbs(pwd) { // as os.Getwd
		if named, err := os.Stat(pwd); err == nil && os.SameFile(at, named) {
			sys.Dir = pwd
		}
	}
	return sys.rooted()
}

// Environ returns the first value of each variable, as os.Environ does. A process
// that has not asked the Go runtime for its environment can have several.
func Environ(environ []string) []string {
	seen := make(map[string]bool, len(environ))
	return slices.DeleteFunc(slices.Clone(environ), func(word string) bool {
		name, _, isVariable := strings.Cut(word, "=")
		again := isVariable && seen[name]
		seen[name] = seen[name] || isVariable
		return again
	})
}

// rooted notes a directory that is none below the root.
func (s *System) rooted() *System {
	if s.noDirectory == nil && !filepath.IsAbs(s.Dir) {
		s.noDirectory = fmt.Errorf("%q is outside the root", s.Dir)
	}
	return s
}

// guard turns a panic into a status. A crashed program must not look like a successful one, nor
// like its child.
func guard(sys *System, kind *Kind, status *Status) {
	if r := recover(); r != nil {
		sys.Fail(fmt.Sprintf("internal error: %v", r), "this is a defect of ethos; the stack follows")
		sys.Stderr.Write(debug.Stack())
		*status = unexpected(*kind)
	}
}
