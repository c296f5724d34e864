package seccomp

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

//go:generate go test ./internal/tablegen -count=1 -update

// Arch is an architecture for which programs are compiled. See [AMD64], [ARM64]
// and [Native].
type Arch struct {
	name      string // GOARCH
	oci       string // its name in an OCI profile
	audit     uint32 // seccomp_data.arch
	auditName string
	x32       bool // numbers with bit 30 set belong to the x32 ABI
	calls     []call
}

// call is one system call. widths holds two bits per argument, the first
// argument lowest: 0 the whole register, 1 the lower 32 bits, 2 the lower 16.
// The widths are those of internal/tablegen/prototypes.txt.
type call struct {
	name   string
	number uint32
	widths uint16
}

// x32Bit marks an x32 call in seccomp_data.nr: __X32_SYSCALL_BIT of
// asm/unistd.h. The calls have the architecture of x86-64 (AUDIT_ARCH_X86_64),
// so only the number tells them apart: seccomp(2).
const x32Bit = 0x40000000

var (
	archAMD64 = Arch{name: "amd64", oci: "SCMP_ARCH_X86_64", audit: 0xc000003e, auditName: "AUDIT_ARCH_X86_64", x32: true, calls: callsAMD64}
	archARM64 = Arch{name: "arm64", oci: "SCMP_ARCH_AARCH64", audit: 0xc00000b7, auditName: "AUDIT_ARCH_AARCH64", calls: callsARM64}
)

// AMD64 is x86-64.
func AMD64() *Arch { return &archAMD64 }

// ARM64 is AArch64.
func ARM64() *Arch { return &archARM64 }

// Native returns the architecture of the running program, or an error that
// names one without a table.
func Native() (*Arch, error) {
	switch runtime.GOARCH {
	case archAMD64.name:
		return &archAMD64, nil
	case archARM64.name:
		return &archARM64, nil
	}
	return nil, fmt.Errorf("seccomp: no system call table for %s", runtime.GOARCH)
}

// String returns the GOARCH name.
func (a *Arch) String() string { return a.name }

// find looks up a call by binary search, because the table is sorted by name.
// It returns nil if there is none.
func (a *Arch) find(name string) *call {
	i, ok := slices.BinarySearchFunc(a.calls, name, func(c call, name string) int { return strings.Compare(c.name, name) })
	if !ok {
		return nil
	}
	return &a.calls[i]
}

// NumberOf returns the number of a call by name. ok is false if the
// architecture lacks it.
func (a *Arch) NumberOf(name string) (number uint32, ok bool) {
	c := a.find(name)
	if c == nil {
		return 0, false
	}
	return c.number, true
}

// NameOf returns the name of a call by number, or "" if there is none.
func (a *Arch) NameOf(number uint32) string {
	for i := range a.calls {
		if a.calls[i].number == number {
			return a.calls[i].name
		}
	}
	return ""
}

// newest returns the highest number in the table. With a newer table, further
// calls get a profile's default instead of ENOSYS. What allows by default must
// be reviewed for them then.
func (a *Arch) newest() (number uint32) {
	for i := range a.calls {
		number = max(number, a.calls[i].number)
	}
	return number
}

// width returns how many bits of the argument the kernel reads.
func (c *call) width(argument int) uint {
	switch c.widths >> (2 * argument) & 3 {
	case 1:
		return 32
	case 2:
		return 16
	}
	return 64
}

// knownElsewhere reports whether the name is a system call of another Linux
// architecture. The names are listed, because a misspelt one must be an error
// and not pass for one of these.
func (a *Arch) knownElsewhere(name string) bool {
	if _, ok := slices.BinarySearch(otherCalls, name); ok {
		return true
	}
	return archAMD64.find(name) != nil || archARM64.find(name) != nil
}
