package printable

import (
	"strconv"
	"strings"
)

// Word is a word of a shell command line, for a message that says what to type:
// whatever the word holds, a shell reads it back as that and runs nothing of it.
// What cannot be shown stands in $'…', which bash, zsh and ksh know and
// POSIX.1-2024 has.
func Word(word string) string {
	ordinary := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+,@=:%", r)
	}
	switch {
	case word != "" && strings.IndexFunc(word, func(r rune) bool { return !ordinary(r) }) < 0:
		return word
	case Line(word) == word:
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	text := strconv.QuoteToASCII(word)
	return "$'" + strings.ReplaceAll(text[1:len(text)-1], "'", `\'`) + "'"
}
