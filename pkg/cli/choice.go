package cli

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Choice is the value of a flag that is a switch and can say more: --confine,
// --confine=ask. Alone it is [Chosen]; "" is a flag that was not given. A command
// checks the word with [Choice.Check].
type Choice string

// Chosen is the value of a [Choice] that was given without a word.
const Chosen Choice = "true"

// IsBool implements kong.BoolMapperValue: the flag takes no word of its own.
func (*Choice) IsBool() bool { return true }

// Decode implements kong.MapperValue.
func (c *Choice) Decode(ctx *kong.DecodeContext) error {
	*c = Chosen
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		if *c = Choice(ctx.Scan.Pop().String()); *c == "" {
			return errors.New("the word is empty") // of a variable that is not set: it would mean none
		}
	}
	return nil
}

// choiceMapper reads a flag of a string type that is no [Choice], and that means the
// same: its tag is type:"choice".
type choiceMapper struct{}

func (choiceMapper) IsBool() bool { return true }

func (choiceMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	var c Choice
	err := c.Decode(ctx)
	target.SetString(string(c))
	return err
}

// Check reports a word that is none of those.
func (c Choice) Check(flag string, words ...Choice) error {
	if c == "" || c == Chosen || slices.Contains(words, c) {
		return nil
	}
	var names []string
	for _, w := range words {
		names = append(names, flag+"="+string(w))
	}
	return &Error{Status: Usage, Err: fmt.Errorf("%s: unknown word %q", flag, string(c)), Hint: "write " + flag + ", " + strings.Join(names, ", ")}
}
