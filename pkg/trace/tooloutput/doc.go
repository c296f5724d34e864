// Package tooloutput extracts findings from a tool's output.
//
// One call suffices: [Fill], which parses the captured output of a trace entry in the format that
// the tool catalog names (facts.tool.format) and sets the entry's findings.
//
// # Contract
//
// A format is the name of a tool ([Formats]), whose parser detects whether the output is JSON or
// text, or "errorformat:" followed by patterns in Vim's errorformat language, one per line. A tool
// that failed without output in a known format yields one finding that says so: a failure is never
// silent. Paths of findings are relative to the workspace if they lie in it.
//
// # Limits
//
// Only the captured part of the output is read. If the capture was truncated, findings may be
// missing, and the entry is not marked as parsed. Columns are passed on as the tool counts them.
package tooloutput
