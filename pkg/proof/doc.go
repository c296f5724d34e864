// Package proof says on which content of a work space a command ran, so that it can be proven later that it did.
//
//	w := proof.Begin(ctx, getenv, root)      // before the run
//	tree := w.End(ctx)                       // after it
//	err := proof.Seal(getenv, id, &result)   // with result.Capture.Tree
//	err := proof.Check(getenv, id, result)
//
// The seal is an HMAC with a key in the state folder, which no confined command sees: a record that a confined command wrote, that was copied to
// another id, or of which anything but the printed text was changed, has none. Who can read the person's files can make seals.
package proof
