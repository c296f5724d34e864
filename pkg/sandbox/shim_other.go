//go:build !linux

package sandbox

import (
	"fmt"
	"os"
)

func shim([]string) int {
	fmt.Fprintln(os.Stderr, "ethos-sandbox: error: commands are confined on Linux only")
	return 125
}
