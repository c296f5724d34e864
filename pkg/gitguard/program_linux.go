package gitguard

import (
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// atExecfn is AT_EXECFN of the auxiliary vector: the name that was passed to execve(2)
// (getauxval(3)).
const atExecfn = 31

// program returns the file that runs. In a boundary inside a container that covers parts of /proc
// there is no /proc/self; it then returns the name that was executed.
func program() (string, error) {
	path, err := os.Executable()
	if err == nil {
		return path, nil
	}
	values, fault := unix.Auxv()
	if fault != nil {
		return "", err
	}
	for _, v := range values {
		if v[0] != atExecfn {
			continue
		}
		name := *(**byte)(unsafe.Pointer(&v[1])) // the kernel stores it above the stack, where it stays
		return filepath.Abs(unix.BytePtrToString(name))
	}
	return "", err
}
