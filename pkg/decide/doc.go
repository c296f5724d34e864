// Package decide decides records: it finds the policies in force for the work
// space of an action, evaluates them, and applies what a person has approved.
//
//	d := decide.New(decide.NewLibrary(decide.Options{}, trust.New(os.Getenv)), nil, time.Now)
//	d.Remember()
//	v, err := d.Decide(ctx, line) // the line has the decision; an error: nothing was decided
//
// It writes nothing but the memory of trust and the note of proven examples,
// and has no streams: what a user is to be told is returned.
//
// # Without CEL
//
// Built with the tag nocel, it has no CEL. [Decider.Decide] then returns
// [policy.ErrNeedsCEL] for a record that only CEL can decide: one with facts
// that could not be established, or in the work space of policies that are not
// shipped.
package decide
