//go:build !linux

package control

// NestedRefusal returns err, because there is no sandbox on this system.
func NestedRefusal(err error) error { return err }

// OnlyOuter returns false.
func OnlyOuter() bool { return false }
