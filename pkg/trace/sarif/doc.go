// Package sarif writes entries as a SARIF 2.1.0 log (OASIS Standard, errata 01).
//
// Two calls suffice: [Writer.Add] for every entry, and [Writer.WriteTo] at the end.
//
// # Contract
//
// Every tool of the catalog that ran has a run of its own, even if it found nothing. Everything
// else is in the run of ethos itself: denials, which are results and notifications, commands that
// belong to no tool of the catalog, and invalid lines. Each action is an invocation. Runs carry the
// sandbox evidence in properties.sandbox; with several invocations it is the weakest of them, and
// each invocation has its own. Locations are relative to uriBaseId SRCROOT, the workspace. The
// identity of a result, its partialFingerprints, does not depend on line numbers; results with
// equal fingerprints are written once.
//
// # Limits
//
// Results, invocations and artifacts are kept in temporary files, so memory does not grow with
// them. The set of fingerprints grows by 8 bytes each. A log has at most 20 runs, which is GitHub's
// limit; further tools share the run of ethos.
package sarif
