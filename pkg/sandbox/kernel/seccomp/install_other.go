//go:build !linux

package seccomp

import (
	"errors"
	"fmt"
	"runtime"
)

// Probe returns an error that wraps [errors.ErrUnsupported], because this
// system has no seccomp.
func Probe() error { return fmt.Errorf("seccomp: not on %s: %w", runtime.GOOS, errors.ErrUnsupported) }
