// Package proof records on which content of a workspace a command ran, so that the run can be
// proven later.
//
//	w := proof.Begin(ctx, getenv, root)      // before the run
//	tree := w.End(ctx)                       // after it
//	err := proof.Seal(getenv, id, &result)   // with result.Capture.Tree
//	err := proof.Check(getenv, id, result)
//
// The seal is an HMAC with a key in the state folder, which no confined command can read. A record
// has no valid seal if a confined command wrote it, if it was copied to another id, or if anything
// but the printed text was changed. Whoever can read the user's files can make seals.
package proof
