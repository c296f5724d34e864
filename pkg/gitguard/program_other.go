//go:build !linux

package gitguard

import "os"

// program returns the file that runs.
func program() (string, error) { return os.Executable() }
