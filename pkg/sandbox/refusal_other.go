//go:build !linux

package sandbox

// nestedRefusal has nothing to add where there is no sandbox to be inside of.
func nestedRefusal(err error) error { return err }
