//go:build !linux

package gitguard

// closed is for the inside of a sandbox, which only Linux has.
func closed(string) bool { return false }
