package decide

import (
	"ethos/pkg/ceiling"
	"ethos/pkg/policy"
	"ethos/pkg/record"
)

// codeUnbounded is the code of the denial of a call that would run without a
// boundary in auto mode.
const codeUnbounded = "decision.no_boundary"

// needBoundary denies a call that policy allows if nobody is asked and the
// answer does not put the call inside a boundary. outside is the reason why
// not. If the administrator requires a boundary, it does so in every mode.
func needBoundary(v *record.Decision, in *policy.Input, outside error, required bool) (denied bool) {
	runs := in.Action.Kind == record.KindShell || in.Action.Kind == record.KindExec
	if !runs || in.Actor.Mode != record.ModeAuto && !required || !Allows(v.Verdict) {
		return false
	}
	if required {
		v.Verdict = record.VerdictDeny
		v.Errors = append(v.Errors, record.PolicyError{
			Code: codeUnbounded, Message: "the administrator of this machine requires a kernel boundary (" + ceiling.Dir + "), and this call would run outside of one: " +
				outside.Error() + ". A person can set one up with ethos-decide hook install",
		})
		return true
	}
	v.Verdict = record.VerdictDeny
	v.Errors = append(v.Errors, record.PolicyError{
		Code: codeUnbounded, Message: "nobody is asked in auto mode, and this call would run outside of a kernel boundary: " + outside.Error() +
			". A person can set one up with ethos-decide hook install, or accept this with --confine=no in the hook",
	})
	return true
}

// Allows reports whether a verdict lets an action run.
func Allows(verdict string) bool {
	return verdict == record.VerdictAllow || verdict == record.VerdictWarn
}
