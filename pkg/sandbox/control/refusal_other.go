//go:build !linux

package control

// NestedRefusal has nothing to add where there is no sandbox to be inside of.
func NestedRefusal(err error) error { return err }
