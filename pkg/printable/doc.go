// Package printable makes text that a command or a repository wrote safe to
// show: a terminal does not obey it, and nothing in it is hidden.
//
// Three calls suffice. [Line] is for a value that stands in a line: a path, a
// message, a command. [Text] is for text of several lines that this program
// laid out. [Sprintf] formats as fmt does, with each value passed through Line,
// so that no value makes a line of its own. [JSON] does for records on a
// terminal what Text does for text, without changing them, and [Word] quotes a
// word of a command line that a message says to type.
//
// # Contract
//
// What comes out is valid UTF-8 of graphic, visible runes and spaces, in Text
// also newlines and tabs. Everything else stands as an escape in the manner of
// Go: \x1b for ASCII and for bytes that are no UTF-8, \u200b and \U000e0041
// for other code points. Escaped are
//
//   - C0, DEL and C1 (ECMA-48), and so every escape sequence;
//   - format characters, among them bidirectional controls (CVE-2021-42574),
//     zero-width characters, the soft hyphen and tag characters;
//   - all that Unicode calls default-ignorable (UAX 44), variation selectors
//     and Hangul fillers among them, and the few graphic characters that have
//     an empty glyph;
//   - spaces other than U+0020, private use, and code points that the Unicode
//     version of this Go release does not know;
//   - combining marks that have no base of their own, or are more than four on
//     one: they would be drawn over other text.
//
// Letters of every script, marks on their base and emoji stay as they are. A
// joiner or selector inside an emoji sequence is escaped like elsewhere: the
// parts stay readable, and two names that look alike never are.
//
// # Limits
//
// The form is for reading and not for parsing: a backslash stands for itself.
// Letters that look like others are not told apart (UTS 39). Letters of
// scripts that are written from right to left keep their own direction on a
// terminal that implements the bidirectional algorithm (UAX 9).
package printable
