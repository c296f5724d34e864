//go:build nomodel

package cli

import "context"

// parse refuses every command line: a program built with the tag nomodel has only
// [Program.Quick]. The model needs kong, and its packages cost each start.
func (p Program) parse(context.Context, *System, []string, *Kind) error {
	return Errorf(Usage, "", "this program does not parse such a command line")
}
