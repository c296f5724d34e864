package cli

import (
	"fmt"
	"slices"
	"strings"
)

// Choice is the value of a flag that works as a switch and can also take a
// word: --confine, --confine=ask. Without a word it is [Chosen]; "" means that
// the flag was not given. A command validates the word with [Choice.Check].
type Choice string

// Chosen is the value of a [Choice] given without a word.
const Chosen Choice = "true"

// IsBool implements kong.BoolMapperValue, and says the same to package flagfield:
// the flag does not consume the next word.
func (*Choice) IsBool() bool { return true }

// Check returns an error if the value is not one of the words.
func (c Choice) Check(flag string, words ...Choice) error {
	if c == "" || c == Chosen || slices.Contains(words, c) {
		return nil
	}
	var names []string
	for _, w := range words {
		names = append(names, flag+"="+string(w))
	}
	return &Error{Status: Usage, Err: fmt.Errorf("%s: unknown value %q", flag, string(c)), Hint: "write " + flag + " or " + strings.Join(names, " or ")}
}

// Or joins the words of a choice for a help text: "a, b or c".
func Or(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
