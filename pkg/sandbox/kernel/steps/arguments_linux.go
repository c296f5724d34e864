package steps

import (
	"os"
	"unsafe"
)

// arguments is the memory of the kernel's argument area that the runtime made os.Args of, without copying: runtime.goargs. The strings lie behind one another,
// each ended by NUL. What does not look like that is left alone.
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
