package steps

import "unsafe"

// arguments returns the part of the kernel's argument area of which these are
// strings, as os.Args is: runtime.goargs. The strings follow one another, each
// ended by NUL. It stops at the first string that does not fit this layout.
func arguments(args []string) []byte {
	if len(args) == 0 || len(args[0]) == 0 {
		return nil
	}
	start := unsafe.Pointer(unsafe.StringData(args[0]))
	length := len(args[0]) + 1
	for _, arg := range args[1:] {
		if unsafe.Pointer(unsafe.StringData(arg)) != unsafe.Add(start, length) {
			break
		}
		length += len(arg) + 1
	}
	return unsafe.Slice((*byte)(start), length)
}
