package cli

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Choice is the value of a flag that works as a switch and can also take a
// word: --confine, --confine=ask. Without a word it is [Chosen]; "" means that
// the flag was not given. A command validates the word with [Choice.Check].
type Choice string

// Chosen is the value of a [Choice] given without a word.
const Chosen Choice = "true"

// IsBool implements kong.BoolMapperValue: the flag does not consume the next
// word.
func (*Choice) IsBool() bool { return true }

// Decode implements kong.MapperValue.
func (c *Choice) Decode(ctx *kong.DecodeContext) error {
	*c = Chosen
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		if *c = Choice(ctx.Scan.Pop().String()); *c == "" {
			return errors.New("the value is empty") // from an unset variable: it would mean that the flag was not given
		}
	}
	return nil
}

// choiceMapper decodes a flag of another string type with the same meaning as
// [Choice]. Such a flag has the tag type:"choice".
type choiceMapper struct{}

func (choiceMapper) IsBool() bool { return true }

func (choiceMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	var c Choice
	err := c.Decode(ctx)
	target.SetString(string(c))
	return err
}

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
