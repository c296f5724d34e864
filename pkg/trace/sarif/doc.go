// Package sarif writes what happened as a SARIF 2.1.0 log (OASIS Standard, errata 01).
//
// Two calls suffice: [Writer.Add] for every entry, and [Writer.WriteTo] at the end.
//
// # Contract
//
// Every tool of the catalog that ran has a run of its own, also when it found nothing; everything else is in the run of ethos itself:
// denials, which are results and notifications, commands that no tool of the catalog is behind, and lines that were not valid. Each action is an
// invocation. Runs carry the sandbox evidence in properties.sandbox; with several invocations it is the weakest of them, and each
// invocation has its own. Locations are relative to uriBaseId SRCROOT, the work space. What a result is known by again, its
// partialFingerprints, does not depend on line numbers; results with equal fingerprints are written once.
//
// # Limits
//
// Results, invocations and artifacts wait in temporary files, so memory does not grow with them; the set of fingerprints does, by 8 bytes each. A log has at
// most 20 runs, as GitHub accepts; tools beyond that share the run of ethos.
package sarif
