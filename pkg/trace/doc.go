// Package trace keeps evidence: an append-only store of what was asked, decided and done, with secrets taken out.
//
// Two calls suffice to keep a line: [Open] and [Store.Append]. [Store.Verify] answers whether what is kept is still what was
// written. The ways out for people and machines are the packages below this one: tooloutput (findings from what a tool printed),
// sarif, and report (terminal, Markdown, HTML).
//
// # Contract
//
// A store is a directory of mode 0700 with one file a day, YYYY/MM/DD.ndjson (UTC, mode 0600). Every line in it is a line of the
// pipe with two more members at its end: prev, the hash of the line before it, and hash, the SHA-256 of the line's own bytes up to
// that member. Writers take turns by flock(2); each line is one write(2), so a writer that dies leaves at most one line without its
// end, which the next writer moves to torn/ and reports. A line that [Store.Append] returned for is in the kernel's hands; [Store.Close] makes it
// durable with fsync(2).
//
// Redaction happens before anything is stored; see [Redactor].
//
// # Limits
//
// The chain shows accidents, careless edits and edits by who cannot recompute it. Who can write every file of the store
// can write another consistent store: keep the printed head hash elsewhere if that matters. Locks are advisory and do not work
// on file systems without flock(2), such as some network mounts.
package trace
