// Package tooloutput reads findings out of what a tool printed.
//
// One call suffices: [Fill], which reads the captured output of a trace entry by the format that the tool catalog names
// (facts.tool.format) and sets the entry's findings.
//
// # Contract
//
// A format is the name of a tool ([Formats]), whose parser tells the tool's JSON from its text by itself, or "errorformat:" followed by
// patterns in Vim's errorformat language, one a line. A tool that failed without output that its format understands yields one
// finding that says so: a failure is never silent. Paths of findings are relative to the work space where they lie in it.
//
// # Limits
//
// Only the captured part of the output is read; when capture was cut off, findings may be missing and the entry is not marked as
// understood. Columns are passed on as the tool counts them.
package tooloutput
