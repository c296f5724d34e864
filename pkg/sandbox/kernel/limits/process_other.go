//go:build !linux

package limits

// isNoProcess is about proc(5), which only Linux has.
func isNoProcess(error) bool { return false }

// sameMemory is about kcmp(2), which only Linux has.
func sameMemory(int, int) bool { return false }
