package sandbox

import (
	"errors"
	"slices"
	"time"

	"ethos/pkg/record"
)

// FromRecord makes the spec of a recorded action: what the capabilities in force say, on the base of their profile.
// environ is this process's environment.
func FromRecord(action record.Action, caps record.Capabilities, environ []string) (Spec, error) {
	argv, err := argvOf(action)
	if err != nil {
		return Spec{}, err
	}
	spec := Spec{
		Profile: caps.SandboxProfile, Tags: caps.Tags, Argv: argv, Dir: action.Cwd, Workspace: action.Workspace, Environ: environ,
		Read: caps.ReadPaths, Write: caps.WritePaths, DenyRead: caps.DenyReadPaths, AllowWithinDeny: caps.AllowReadWithinDeny, DenyWrite: caps.DenyWritePaths,
		Cache: caps.CachePaths, UnixSockets: caps.UnixSockets, Declared: true, KeepsStore: true,
		Network: caps.Network.Mode, AllowDomains: caps.Network.AllowDomains, DenyDomains: caps.Network.DenyDomains,
		Env: slices.Clone(caps.Env.Pass), AllEnv: caps.RequiresEnv, Limits: limitsOf(caps), Enforce: caps.Enforce,
		Seccomp: caps.SeccompProfile, SeccompFile: caps.SeccompProfilePath, Git: caps.Git, CloseStdin: true, NewSession: true,
	}
	for name, value := range caps.Env.Set {
		spec.Env = append(spec.Env, name+"="+value)
	}
	return spec, nil
}

// argvOf is the command of an action. A script is run by bash, whose language it was analysed in.
func argvOf(action record.Action) ([]string, error) {
	switch action.Kind {
	case record.KindExec:
		if len(action.Argv) == 0 {
			return nil, errors.New("action has an empty argv")
		}
		return action.Argv, nil
	case record.KindShell:
		return []string{"bash", "-c", action.Script}, nil
	}
	return nil, errors.New("an action of kind " + action.Kind + " is not executed")
}

// Result is the outcome of a run as it stands in a record. capture has the streams; its evidence is filled in here.
func (o Outcome) Result(capture record.Capture) record.Result {
	capture.Sandbox = o.Evidence
	r := record.Result{
		Status: o.Status, ExitCode: o.ExitCode, Started: o.Started.UTC().Format(time.RFC3339Nano),
		DurationMS: float64(o.Duration.Microseconds()) / 1000, Capture: capture,
	}
	if o.Status != record.StatusExited {
		r.Signal = signalName(o.Signal)
	}
	return r
}

// Denied is the result of an action that did not run.
func Denied(reason, message, hint string, evidence record.Sandbox) record.Result {
	evidence.Denied = true
	if evidence.Reason == "" {
		evidence.Reason = message
	}
	return record.Result{Status: record.StatusDenied, Reason: reason, Message: message, Hint: hint, Capture: record.Capture{Sandbox: evidence}}
}
