// Package random is [crypto/rand] for a process that needs a few bytes once, for
// an identifier. The first use of crypto/rand in a process sets up two generators,
// its own and that of the vDSO, which takes as long as a hundred system calls. Keys
// are made with crypto/rand.
package random

import "crypto/rand"

// Read fills b with random bytes of the kernel. It never fails: crypto/rand, which
// it falls back to, ends the program if the kernel has none.
func Read(b []byte) {
	if !fromKernel(b) {
		rand.Read(b)
	}
}
