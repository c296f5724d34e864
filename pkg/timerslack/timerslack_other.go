//go:build !linux

package timerslack

// Restore does nothing: only Linux has a slack for each thread.
func Restore() {}
