package plan

import (
	"errors"
	"fmt"
)

// Refusal is the reason why nothing ran.
type Refusal struct {
	Code string // the reason code in a result: sandbox.declaration, sandbox.setup, …
	Err  error
	Hint string // what to do about it
}

func (r *Refusal) Error() string { return r.Err.Error() }

func (r *Refusal) Unwrap() error { return r.Err }

// The codes of a [Refusal].
const (
	CodeDeclaration = "sandbox.declaration" // the declaration is contradictory, or nobody can have what it asks for
	CodeSetup       = "sandbox.setup"       // a set-up step failed
	CodeStale       = "sandbox.stale"       // the session no longer matches the file system, and ends
	CodeVerify      = "sandbox.verify"      // set-up succeeded, but the state read back is not that of the plan
	CodeRequire     = "sandbox.require"     // a required control is not available here
	CodeUnsupported = "sandbox.unsupported" // not available on this system
	CodeNotFound    = "sandbox.not_found"   // no such command
	CodeNotExec     = "sandbox.not_executable"
)

// Refuse returns a refusal with a formatted error, as of fmt.Errorf.
func Refuse(code, hint, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Err: fmt.Errorf(format, args...), Hint: hint}
}

// AsSetup returns nil for nil, else a refusal with the text of err. If err is none, its code
// is [CodeSetup].
func AsSetup(err error) error {
	if err == nil {
		return nil
	}
	return refusal(err, CodeSetup, "")
}

// refusal returns a refusal with the text of err, with the code and the hint of a refusal
// in err, or with these.
func refusal(err error, code, hint string) error {
	if r, ok := errors.AsType[*Refusal](err); ok {
		code, hint = r.Code, r.Hint
	}
	return &Refusal{Code: code, Err: err, Hint: hint}
}

// OtherSandboxHint is the hint inside another program's sandbox.
const OtherSandboxHint = "this runs inside another sandbox: if the hook confines commands, turn the agent's own sandbox off (Codex CLI: sandbox_mode = \"danger-full-access\")"

// asRefusal returns a refusal of a declaration, if err is none.
func asRefusal(err error) error {
	hint := ""
	if Doubtful(err) {
		hint = doubtHint
	}
	return refusal(err, CodeDeclaration, hint)
}

const doubtHint = "repair the file system that it is on, or unmount it: what the command would find there is not known"
