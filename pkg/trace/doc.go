// Package trace keeps evidence: an append-only store of what was requested, decided and done, with
// secrets removed.
//
// Two calls suffice to store a line: [Open] and [Store.Append]. [Store.Verify] checks that the
// store still contains what was written. Output for people and machines is in the packages below
// this one: tooloutput (findings from a tool's output), sarif, and report (terminal, Markdown,
// HTML).
//
// # Contract
//
// A store is a directory of mode 0700 with one file per day, YYYY/MM/DD.ndjson (UTC, mode 0600).
// Each line in it is a line of the pipe with two more members at its end: prev, the hash of the
// line before it, and hash, the SHA-256 of the line's own bytes up to that member. Writers take
// turns with flock(2). Each line is one write(2), so a writer that dies leaves at most one
// incomplete line, which the next writer moves to torn/ and reports. After [Store.Append] returns,
// the kernel has the line; [Store.Close] makes it durable with fsync(2).
//
// Secrets are removed before anything is stored; see [Redactor].
//
// # Limits
//
// The chain reveals accidents, careless edits, and edits by anyone who cannot recompute it. Anyone
// who can write every file of the store can replace it with another consistent store; keep the
// printed head hash elsewhere if that matters. Locks are advisory, and do not work on file systems
// without flock(2), such as some network mounts.
package trace
