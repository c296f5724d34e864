//go:build !linux

package limits

// isNoProcess returns false: proc(5) exists only on Linux.
func isNoProcess(error) bool { return false }

// sameMemory returns false: kcmp(2) exists only on Linux.
func sameMemory(int, int) bool { return false }
