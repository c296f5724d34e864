// Package printable makes text from a command or a repository safe to show: it
// cannot control a terminal, and nothing in it is hidden.
//
// [Line] is for a value within a line: a path, a message, a command. [Text] is
// for text of several lines that this program laid out. [Sprintf] formats as
// fmt does, with each value passed through Line, so that no value starts a line
// of its own. [JSON] does for records on a terminal what Text does for text,
// without changing their values. [Word] quotes a word of a command line that a
// message suggests to type.
//
// # Contract
//
// The result is valid UTF-8 of graphic, visible runes and spaces and, from
// Text, newlines and tabs. Everything else is escaped as in Go: \x1b for ASCII
// and for bytes that are not UTF-8, \u200b and \U000e0041 for other code
// points. Escaped are
//
//   - C0, DEL and C1 (ECMA-48), and so every escape sequence;
//   - format characters, among them bidirectional controls (CVE-2021-42574),
//     zero-width characters, the soft hyphen and tag characters;
//   - all default-ignorable code points of Unicode (UAX 44), among them variation
//     selectors and Hangul fillers, and the few graphic characters with an
//     empty glyph;
//   - spaces other than U+0020, private use, and code points that the Unicode
//     version of this Go release does not know;
//   - combining marks without a base of their own, or more than four on one
//     base: they would be drawn over other text.
//
// Letters of every script, marks on their base and emoji are kept. A joiner or
// selector inside an emoji sequence is escaped as elsewhere: the parts stay
// readable, and two different names never look alike because of it.
//
// # Limits
//
// The result is for reading, not for parsing: a backslash is not escaped.
// Letters that look like others are not distinguished (UTS 39). Letters of
// right-to-left scripts keep their own direction on a terminal that implements
// the bidirectional algorithm (UAX 9).
package printable
