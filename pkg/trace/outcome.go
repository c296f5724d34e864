package trace

import (
	"errors"
	"slices"
	"time"

	"ethos/pkg/record"
)

// Outcome is the result of an action in one word.
type Outcome string

// The outcomes, best first.
const (
	Passed    Outcome = "passed"    // ran, and its exit status was 0
	Allowed   Outcome = "allowed"   // may run; ethos did not run it, or has not yet
	Reported  Outcome = "reported"  // an event: nothing to run
	Found     Outcome = "found"     // ran, and its output has findings, or the sandbox denied it something
	Failed    Outcome = "failed"    // ran, and ended with another status, by a signal or at a limit
	NoResult  Outcome = "no-result" // may run, confined, and how that ended did not come within its time limit
	Undecided Outcome = "undecided" // nobody made a decision
	Asked     Outcome = "asked"     // waits for a person
	Denied    Outcome = "denied"    // may not run
)

// Negative reports whether the outcome makes ethos-trace exit with status 1.
func (o Outcome) Negative() bool {
	return o != Passed && o != Allowed && o != Reported
}

// The reasons for which the sandbox refuses a record that was changed after its decision, or whose
// decision was changed.
const (
	reasonMismatch = "decision.subject_mismatch"
	reasonBroken   = "decision.inconsistent"
)

// Entry is one action line, decoded for output.
type Entry struct {
	Line     *record.Line
	Time     string // RFC 3339
	Action   record.Action
	Actor    record.Actor
	Facts    record.Facts     // the id and format of the tool, and the name and position of the first command; see AllFacts
	Decision *record.Decision // nil if nobody decided
	Result   *record.Result   // nil if ethos did not run it
	Broken   string           // how the decision contradicts itself: see [record.Decision.Broken]
	Awaits   bool             // a call that a hook let run confined, without a result: one may follow
	Late     bool             // it should be there: the time limit of the call is over
	// Findings are the findings in the tool's output; package tooloutput sets them.
	Findings []Finding
	// Parsed is true if the tool's output was understood completely: Findings then explain a status
	// other than 0.
	Parsed bool
}

// NewEntry decodes an action line. now decides whether its result is late. The error is a
// [*record.BadLine].
func NewEntry(l *record.Line, now time.Time) (*Entry, error) {
	e := &Entry{Line: l}
	err := errors.Join(
		optional(l.Decode("time", &e.Time)),
		l.Decode("action", &e.Action),
		optional(l.Decode("actor", &e.Actor)),
		optional(l.Brief(&e.Facts)),
		take(l, "decision", &e.Decision),
		take(l, "result", &e.Result),
	)
	e.check(l.Has("redacted"))
	var c confinement
	if e.Result == nil && l.Decode("confine", &c) == nil && c.Applied {
		e.Awaits = true
		e.Late = c.Result && e.late(e.AllFacts().Capabilities.TimeoutSeconds, now)
	}
	return e, err
}

// confinement is the member of a hook's record that says whether the call runs confined.
type confinement struct {
	Applied bool `json:"applied"`
	Result  bool `json:"result"` // the run adds its result to this record
}

// late reports whether a result can no longer follow: for as long as the call may take, and as
// [Store.Amend] finds the record, it can.
func (e *Entry) late(seconds int64, now time.Time) bool {
	limit := amendable
	if seconds > 0 && seconds < int64(amendable/time.Second) {
		limit = time.Duration(seconds) * time.Second
	}
	made, err := time.Parse(time.RFC3339Nano, e.Time)
	return err == nil && now.Sub(made) > limit
}

// check sets Broken. The seal of a decision that was redacted is that of the text before.
func (e *Entry) check(redacted bool) {
	if e.Decision == nil {
		return
	}
	d := *e.Decision
	if redacted {
		d.Seal = ""
	}
	e.Broken = d.Broken(e.Actor.AdminApproved)
}

// AllFacts decodes all facts of the entry's line; those of a skimmed entry are lost. Most reports
// need none but those in Facts.
func (e *Entry) AllFacts() (f record.Facts) {
	if e.Line != nil {
		_ = e.Line.Decode("facts", &f) // fails only if there are none: they were checked when the line was read
	}
	return f
}

func optional(err error) error {
	if errors.Is(err, record.ErrAbsent) {
		return nil
	}
	return err
}

// take decodes a member, if the line has it.
func take[T any](l *record.Line, name string, to **T) error {
	if !l.Has(name) {
		return nil
	}
	*to = new(T)
	return l.Decode(name, *to)
}

// Outcome returns the outcome, taking the findings into account.
func (e *Entry) Outcome() Outcome {
	decided := e.decided()
	switch {
	case e.Result != nil && e.Result.Status == record.StatusDenied:
		if decided == Asked && e.Result.Reason != reasonMismatch {
			return Asked
		}
		return Denied
	case e.Action.Kind == record.KindEvent && e.Decision == nil && e.Result == nil:
		return Reported
	case decided != Allowed:
		return decided
	case e.Result != nil:
		return e.ran()
	case e.Action.Kind == record.KindEvent:
		return Reported
	case e.Late:
		return NoResult
	}
	return Allowed
}

// decided returns the outcome if only the decision counts. The sandbox refuses a decision that
// contradicts itself.
func (e *Entry) decided() Outcome {
	switch {
	case e.Decision == nil:
		return Undecided
	case e.Broken != "":
		return Denied
	}
	switch e.Decision.Verdict {
	case record.VerdictAllow, record.VerdictWarn:
		return Allowed
	case record.VerdictAsk:
		return Asked
	}
	return Denied
}

// inconsistent says how the record contradicts itself, or "": its decision does, or it has the result
// of a run that nothing allowed.
func (e *Entry) inconsistent() string {
	switch {
	case e.Broken != "":
		return "the decision was changed: " + e.Broken
	case !e.Ran() || e.decided() == Allowed:
		return ""
	case e.Decision == nil:
		return "it has the result of a run, and no decision"
	}
	return "it has the result of a run, and the verdict is " + e.Decision.Verdict
}

func (e *Entry) ran() Outcome {
	exited := e.Result.Status == record.StatusExited && e.Result.Signal == ""
	clean := exited && e.Result.ExitCode == 0
	explained := exited && e.Parsed
	switch {
	case len(e.Findings) > 0 && (clean || explained), clean && slices.ContainsFunc(e.Denials(), left):
		return Found
	case clean:
		return Passed
	}
	return Failed
}

// left reports whether a denial is about something that the command tried to do to the workspace or
// the machine. A host name that a successful command did without, such as that of a statistics
// service, is not a finding; nor is a denial observed in its system calls.
func left(d record.Denial) bool { return d.Layer != record.LayerNetwork && d.Kind == "" }

// Reported returns what the tool itself reported: Findings without the one of [RuleFailed]. Reports
// for people show that one as a failure.
func (e *Entry) Reported() []Finding {
	at := slices.IndexFunc(e.Findings, func(f Finding) bool { return f.Rule == RuleFailed })
	if at < 0 {
		return e.Findings
	}
	return slices.Concat(e.Findings[:at], e.Findings[at+1:])
}

// Ran reports whether ethos executed the action.
func (e *Entry) Ran() bool { return e.Result != nil && e.Result.Status != record.StatusDenied }

// Tool names the tool for people and for grouping: the catalog's id, else "".
func (e *Entry) Tool() string { return e.Facts.Tool.ID }
