// Package record is the line that flows through the pipe: its types, its strict codec, its
// identity.
//
// Most stages need two calls. Begin with [Filter.Run], the loop that reads, checks and passes on
// lines; in it, a stage uses [Line.Decode] and [Line.Set] for the members that it reads and adds.
//
// # Contract
//
// A line is one JSON object (RFC 8259) in UTF-8, ended by a newline, of at most [DefaultMaxLine]
// bytes. Input is either understood completely or replaced by an error line; nothing is dropped and
// nothing is guessed. Duplicate keys at any depth, lone surrogates, trailing data, unknown or
// missing fields, wrong types and values, and nesting deeper than [MaxDepth] are errors (I-JSON,
// RFC 7493). Unknown keys at the top level are kept. Every member that a stage does not set is
// written byte for byte as it was read.
//
// # Limits
//
// A [Line] is not safe for concurrent use. Strings cannot contain bytes that are not UTF-8, and
// argv, scripts and paths cannot contain NUL.
package record
