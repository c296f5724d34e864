//go:build !linux

package gitguard

// closed returns false, because only Linux has the inside of a sandbox.
func closed(string) bool { return false }
