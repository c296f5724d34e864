//go:build !linux

package cli

import (
	"io"
	"os"
)

// DiscardTyped does nothing on this system.
func DiscardTyped(*os.File) error { return nil }

// readWriteNull always returns false: it cannot be determined on this system.
func readWriteNull(*os.File) bool { return false }

// TakesLines reports whether a line may be written to w while another program
// uses it. Here it is true unless w is a terminal.
func TakesLines(w io.Writer) bool { return !IsTerminal(w) }

// ShowText does nothing on this system.
func ShowText(io.Writer) error { return nil }
