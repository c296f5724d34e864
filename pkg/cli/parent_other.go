//go:build !linux

package cli

import "errors"

// DieWithParent is not to be had on this system.
func DieWithParent() error { return errors.ErrUnsupported }
