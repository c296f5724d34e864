// Package attest carries proofs of a commit to other machines: an in-toto statement with the runs that prove it, in a DSSE envelope.
//
//	bundle, err := attest.Sign(ctx, key, attest.Subject{Commit: c, Tree: t}, predicate)
//	predicate, err := attest.Open(ctx, public, bundle, subject)   // signature and subject
//	err = predicate.Derive(subject, controls)                     // the verdicts again, from the recorded runs
//
// The signature says who; the derivation says whether the runs show what is said. That they ran, and their facts, are the word of who signed.
// Keys are ECDSA or Ed25519, in PEM (PKCS #8, PKIX).
package attest
