//go:build !linux

package ceiling

import "errors"

func exchange(string, string) error { return errors.ErrUnsupported }
