//go:build !linux

package landlock

import (
	"errors"
	"fmt"
	"runtime"
)

// Probe returns an error that wraps [errors.ErrUnsupported], because this
// system has no Landlock.
func Probe() (Kernel, error) {
	return Kernel{}, fmt.Errorf("landlock: not on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
