package tooloutput

import (
	"iter"
	"strings"
)

// firstWord splits a message at its first space.
func firstWord(s string) (word, rest string) {
	word, rest, _ = strings.Cut(strings.TrimSpace(s), " ")
	return word, strings.TrimSpace(rest)
}

func trimColon(s string) string { return strings.TrimSuffix(s, ":") }

// lines yields the non-empty lines without their line ends.
func lines(text []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimRight(line, "\r\n"); line != "" && !yield(line) {
				return
			}
		}
	}
}
