package plan

import "fmt"

// Refusal is why nothing ran.
type Refusal struct {
	Code string // sandbox.declaration, sandbox.setup, …: the reason code in a result
	Err  error
	Hint string // the way out
}

func (r *Refusal) Error() string { return r.Err.Error() }

func (r *Refusal) Unwrap() error { return r.Err }

// The codes of a [Refusal].
const (
	CodeDeclaration = "sandbox.declaration" // what is asked for is contradictory or not to be had by anyone
	CodeSetup       = "sandbox.setup"       // a step of the set-up failed
	CodeStale       = "sandbox.stale"       // a session does not fit what is there any more, and ends
	CodeVerify      = "sandbox.verify"      // the set-up went through, and the state read back is not the plan's
	CodeRequire     = "sandbox.require"     // a control that was required cannot be had here
	CodeUnsupported = "sandbox.unsupported" // not on this system
	CodeNotFound    = "sandbox.not_found"   // no such command
	CodeNotExec     = "sandbox.not_executable"
)

// Refuse makes a refusal of a format, as fmt.Errorf does.
func Refuse(code, hint, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Err: fmt.Errorf(format, args...), Hint: hint}
}

// AsSetup makes a refusal of what is not one: the set-up failed.
func AsSetup(err error) error {
	if _, ok := err.(*Refusal); ok || err == nil {
		return err
	}
	return &Refusal{Code: CodeSetup, Err: err}
}

// OtherSandboxHint is the way out inside of another program's sandbox.
const OtherSandboxHint = "another sandbox is around this one: where the hook confines, turn the agent's own off (Codex CLI: sandbox_mode = \"danger-full-access\")"
