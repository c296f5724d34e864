//go:build !linux

package cli

import (
	"io"
	"os"
)

// DiscardTyped forgets nothing here.
func DiscardTyped(*os.File) error { return nil }

// readWriteNull is not known here.
func readWriteNull(*os.File) bool { return false }

// TakesLines reports whether a line may be written to w while another program
// uses it: where it is no terminal.
func TakesLines(w io.Writer) bool { return !IsTerminal(w) }
