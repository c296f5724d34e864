package printable

import (
	"strconv"
	"strings"
)

// Word quotes a word of a shell command line for a message that says what to
// type. Whatever the word contains, a shell reads it back unchanged and runs
// nothing of it. A word with characters that cannot be shown is written as
// $'…', which bash, zsh, ksh and POSIX.1-2024 support.
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
