// Package record is the line that flows through the pipe: its types, its strict codec, its identity.
//
// Most stages need two calls: [Filter.Run], the loop that reads, checks and passes on lines, and inside it
// [Line.Decode] and [Line.Set] for the members that the stage reads and adds.
//
// # Contract
//
// A line is one JSON object (RFC 8259) in UTF-8, ended by a newline, of at most [DefaultMaxLine] bytes. What is read is either
// understood in full or replaced by an error line; nothing is dropped and nothing is guessed: duplicate keys at any depth,
// lone surrogates, trailing data, unknown or missing fields, wrong types and values and nesting deeper than [MaxDepth] are errors
// (I-JSON, RFC 7493). Keys at the top level that this package does not know are kept, and every member that a stage
// does not set leaves it byte for byte as it came.
//
// # Limits
//
// A [Line] is not safe for concurrent use. Strings cannot carry bytes that are not UTF-8, nor can argv, scripts and paths carry NUL.
package record
