package sandbox

import (
	"errors"

	"ethos/pkg/capability"
	"ethos/pkg/record"
)

// FromRecord makes the spec of a recorded action from its effective set. environ is this
// process's environment.
func FromRecord(action record.Action, caps capability.Set, environ []string) (Spec, error) {
	argv, err := argvOf(action)
	if err != nil {
		return Spec{}, err
	}
	return Spec{
		Asked: capability.Recorded(caps), Argv: argv, Dir: action.Cwd, Workspace: action.Workspace, Placed: true, Environ: environ,
		KeepsStore: true, CloseStdin: true, NewSession: true,
	}, nil
}

// argvOf returns the command of an action. A script is run by bash, because it was analysed
// as bash.
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

// Denied returns the result of an action that did not run.
func Denied(reason, message, hint string, evidence record.Sandbox) record.Result {
	evidence.Denied = true
	if evidence.Reason == "" {
		evidence.Reason = message
	}
	return record.Result{Status: record.StatusDenied, Reason: reason, Message: message, Hint: hint, Capture: record.Capture{Sandbox: evidence}}
}

// DeniedBy returns the result of an action that did not run because of an error.
func DeniedBy(failure error, evidence record.Sandbox) record.Result {
	var r *Refusal
	if errors.As(failure, &r) {
		return Denied(r.Code, r.Error(), r.Hint, evidence)
	}
	return Denied(CodeSetup, failure.Error(), "", evidence)
}
