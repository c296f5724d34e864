package seatbelt

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// pathMax bounds a path: PATH_MAX of macOS, sys/syslimits.h.
const pathMax = 1024

// inexpressible says why a path cannot stand in a profile, or returns "". Control characters are
// refused because public material does not say how the reader of profiles takes them.
func inexpressible(path string) string {
	switch {
	case !strings.HasPrefix(path, "/"):
		return "it is not absolute"
	case len(path) >= pathMax:
		return fmt.Sprintf("it is longer than macOS allows: %d bytes", pathMax-1)
	case !utf8.ValidString(path):
		return "it is not UTF-8"
	case strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "it contains a control character"
	}
	return ""
}

// quoted writes a string of a profile. Only quotation marks and backslashes need an escape.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// nonASCII matches one or more characters that are neither ASCII nor a slash.
const nonASCII = `[^ -~/]+`

// exactly returns a regular expression that matches a text. A quotation mark would end the literal
// of a profile, so any character but a slash stands for it.
func exactly(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '"':
			b.WriteString("[^/]")
		case strings.ContainsRune(`\.+*?()|[]{}^$`, r):
			b.WriteString(`\` + string(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// folded returns a regular expression that matches every spelling of a text that a file system
// without regard to case and normalisation, as APFS is by default, takes for the same name. It may
// match a few other names that contain characters beyond ASCII, but no others.
func folded(text string) string {
	var b strings.Builder
	for rest := text; rest != ""; {
		part, write := next(rest)
		b.WriteString(write)
		rest = rest[len(part):]
	}
	return b.String()
}

// next splits a part off a text and returns it with its regular expression.
func next(text string) (part, expression string) {
	if run := leading(text, func(c byte) bool { return c >= utf8.RuneSelf }); run != "" {
		return run, "[a-zA-Z]?" + nonASCII // a letter with its mark, in one character or in two
	}
	if run := leading(text, func(c byte) bool { return strings.IndexByte("filstFILST", c) >= 0 }); joins(run) {
		return run, "(" + letters(run) + "|[a-zA-Z]*" + nonASCII + "[a-zA-Z]*)"
	}
	return text[:1], letters(text[:1])
}

func leading(text string, of func(byte) bool) string {
	n := 0
	for n < len(text) && of(text[n]) {
		n++
	}
	return text[:n]
}

// joins reports whether some of the letters are also one character: the ligatures of Unicode from
// U+FB00 and the sharp s, which fold to them (CaseFolding.txt).
func joins(run string) bool {
	run = strings.ToLower(run)
	return slices.ContainsFunc([]string{"ff", "fi", "fl", "st", "ss"}, func(pair string) bool { return strings.Contains(run, pair) })
}

// letters returns the regular expression of ASCII characters in either case. The long s and the
// Kelvin sign fold to ASCII letters: CaseFolding.txt.
func letters(text string) string {
	var b strings.Builder
	for _, r := range text {
		lower, upper := strings.ToLower(string(r)), strings.ToUpper(string(r))
		switch {
		case lower == upper:
			b.WriteString(exactly(lower))
		case lower == "s":
			b.WriteString("([sS]|\u017f)")
		case lower == "k":
			b.WriteString("([kK]|\u212a)")
		default:
			b.WriteString("[" + lower + upper + "]")
		}
	}
	return b.String()
}
