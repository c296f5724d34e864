package random

import (
	"runtime"
	"syscall"
	"unsafe"
)

// atOnce is how many bytes the kernel returns in one call, once it is
// initialised: getrandom(2).
const atOnce = 256

// fromKernel fills b by getrandom(2), and reports whether it did. It waits if the
// kernel is not initialised.
func fromKernel(b []byte) bool {
	number := uintptr(0)
	switch runtime.GOARCH {
	case "amd64":
		number = 318
	case "arm64":
		number = 278
	}
	if number == 0 || len(b) == 0 || len(b) > atOnce {
		return false
	}
	n, _, e := syscall.Syscall(number, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), 0)
	return e == 0 && int(n) == len(b)
}
