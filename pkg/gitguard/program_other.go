//go:build !linux

package gitguard

import "os"

func program() (string, error) { return os.Executable() }
