package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"

	"ethos/pkg/flagfield"
	"ethos/pkg/inherited"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/boundary"
	"ethos/pkg/sandbox/kernel/steps"
)

// shimArgs holds the flags of `ethos-sandbox run` that [Sandbox.Wrap] writes.
type shimArgs struct {
	boundary.Flags
	Backend  string
	Evidence string
	Fd       []int
}

// Inside goes on with a run of the backend bwrap if bubblewrap has started this program,
// and returns the exit status when everything inside has ended. [ExecShim] calls it. A
// program that does not call ExecShim must call it first in its main function.
func Inside(args []string) (status int, inside bool) {
	if !steps.AsksInside(args) {
		return 0, false
	}
	return steps.Inside(args), true
}

// shim runs a command as `ethos-sandbox run` does, and returns its exit status.
func shim(args []string) int {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, Forwarded()...)
	out, err := shimRun(args, signals)
	if err == nil {
		return out.ExitStatus()
	}
	var r *Refusal
	hint, status := "", StatusRefused
	if errors.As(err, &r) {
		hint = r.Hint
		status = RefusedStatus(r.Code)
	}
	fmt.Fprintf(os.Stderr, "ethos-sandbox: error: %v\n", err)
	if hint != "" {
		fmt.Fprintf(os.Stderr, "ethos-sandbox: hint: %s\n", hint)
	}
	return status
}

func shimRun(args []string, signals <-chan os.Signal) (out Outcome, err error) {
	var c shimArgs
	rest, ok := flagfield.Plain(&c, args)
	if !ok || len(rest) < 2 {
		return out, &Refusal{Code: CodeDeclaration, Err: fmt.Errorf("a command line that Wrap did not write: %q", args)}
	}
	var evidence *os.File
	if number, is := strings.CutPrefix(c.Evidence, "fd:"); is {
		if fd, err := strconv.Atoi(number); err == nil {
			evidence = inherited.File(fd, "evidence")
		}
		if evidence == nil {
			return out, &Refusal{Code: CodeDeclaration, Err: fmt.Errorf("the evidence's descriptor %s is not open", number)}
		}
	}
	defer func() {
		if evidence == nil {
			return
		}
		result := out.Result(record.Capture{})
		if err != nil {
			result = DeniedBy(err, out.Evidence)
		}
		text, fault := json.Marshal(result)
		if fault == nil {
			_, fault = evidence.Write(append(text, '\n'))
		}
		if fault != nil {
			fmt.Fprintf(os.Stderr, "ethos-sandbox: warning: evidence: %v\n", fault)
		}
	}()
	out.Evidence = NoEvidence()
	dir, err := os.Getwd()
	if err != nil {
		return out, err
	}
	environ := os.Environ()
	spec, err := c.Spec(HostFiles{}, dir, environ, rest[1:])
	if err != nil {
		return out, &Refusal{Code: CodeDeclaration, Err: err}
	}
	spec.Descriptors, spec.Backend = c.Fd, c.Backend
	spec.Recovered = Recover(context.Background(), environ)
	plan, err := Build(spec, HostFiles{}, os.Geteuid())
	if err != nil {
		return out, err
	}
	if plan.Backend == None {
		fmt.Fprintln(os.Stderr, "ethos-sandbox: warning: nothing is isolated: the backend is none")
	}
	out, err = Run(context.Background(), plan, IO{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Signals: signals})
	Release()
	if err == nil {
		Explain(plan, &out, Failed{Argv: plan.Argv})
	}
	return out, err
}
