package steps

import (
	"os"
	"unsafe"
)

// arguments returns the part of the kernel's argument area from which the
// runtime made os.Args without copying: runtime.goargs. The strings follow one
// another, each ended by NUL. It stops at the first string that does not fit
// this layout.
func arguments() []byte {
	if len(os.Args) == 0 || len(os.Args[0]) == 0 {
		return nil
	}
	start := unsafe.Pointer(unsafe.StringData(os.Args[0]))
	length := len(os.Args[0]) + 1
	for _, arg := range os.Args[1:] {
		if unsafe.Pointer(unsafe.StringData(arg)) != unsafe.Add(start, length) {
			break
		}
		length += len(arg) + 1
	}
	return unsafe.Slice((*byte)(start), length)
}
