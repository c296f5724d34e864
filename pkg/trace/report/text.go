package report

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"ethos/pkg/printable"
)

// visible makes text safe for one line of a terminal or page.
func visible(text string) string { return printable.Line(text) }

func clip(text string, max int) string { return printable.Clip(text, max) }

// width returns the number of cells that text takes on a terminal.
func width(text string) (n int) {
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

// runeWidth follows Unicode Standard Annex 11 for the common ranges.
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf), r >= 0xfe00 && r <= 0xfe0f:
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0x303e, r >= 0x3041 && r <= 0xa4cf, r >= 0xa960 && r <= 0xa97c, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6:
		return 2
	case r >= 0x1f300 && r <= 0x1f64f, r >= 0x1f680 && r <= 0x1f6ff, r >= 0x1f900 && r <= 0x1f9ff, r >= 0x1fa70 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	case r == 0x231a, r == 0x231b, r == 0x23e9, r == 0x23f0, r == 0x23f3, r >= 0x2614 && r <= 0x2615, r == 0x2705, r == 0x274c, r == 0x274e, r == 0x2728, r == 0x2b50, r == 0x2b55:
		return 2
	}
	return 1
}

// fit truncates text to at most cells cells, with a mark.
func fit(text string, cells int) string {
	if cells <= 0 {
		return ""
	}
	if width(text) <= cells {
		return text
	}
	used := 0
	for i, r := range text {
		if used+runeWidth(r) > cells-1 {
			return text[:i] + "…"
		}
		used += runeWidth(r)
	}
	return text
}

// wrap breaks text at spaces into lines of at most cells cells. It does not break longer words.
// Without a limit it returns one line.
func wrap(text string, cells int) (lines []string) {
	if cells <= 0 || width(text) <= cells {
		return []string{text}
	}
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && width(line)+1+width(word) > cells {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// pad fills text with spaces up to cells cells.
func pad(text string, cells int) string {
	return text + strings.Repeat(" ", max(cells-width(text), 0))
}

func padLeft(text string, cells int) string {
	return strings.Repeat(" ", max(cells-width(text), 0)) + text
}

// span formats a duration with about three digits.
func span(ms float64) string {
	switch d := time.Duration(ms * float64(time.Millisecond)); {
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", ms)
	case d < 100*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	default:
		return fmt.Sprintf("%d:%02d min", int(d.Minutes()), int(d.Seconds())%60)
	}
}

// Count returns a number with its noun.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// tail returns the last lines of a text, and the number of lines left out.
func tail(text string, lines int) (last []string, before int) {
	all := strings.Split(strings.TrimRight(text, "\r\n\t "), "\n")
	if len(all) == 1 && all[0] == "" {
		return nil, 0
	}
	before = max(len(all)-lines, 0)
	return all[before:], before
}
