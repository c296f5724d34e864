//go:build !linux

package cli

import "errors"

// DieWithParent is not supported on this system.
func DieWithParent() error { return errors.ErrUnsupported }
