//go:build !linux

package sandbox

import (
	"fmt"
	"os"
)

// Inside does nothing on this system.
func Inside([]string) (status int, inside bool) { return 0, false }

func shim([]string) int {
	fmt.Fprintln(os.Stderr, "ethos-sandbox: error: commands are confined on Linux only")
	return 125
}
