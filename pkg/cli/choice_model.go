//go:build !nomodel

package cli

import (
	"reflect"

	"github.com/alecthomas/kong"
)

// Decode implements kong.MapperValue.
func (c *Choice) Decode(ctx *kong.DecodeContext) error {
	*c = Chosen
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		if *c = Choice(ctx.Scan.Pop().String()); *c == "" {
			return errEmpty
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
