package exec

import (
	"slices"

	"ethos/pkg/sandbox/plan"
)

// architectures are those for whose system calls the filters are written. What a filter cannot see
// elsewhere it could not deny: socketcall(2) of i386 has its arguments in memory.
var architectures = []string{"amd64", "arm64"}

// hasFilters refuses to run anything on another architecture. The programs compile for 386, for
// what they do besides running commands.
func hasFilters(arch string) error {
	if slices.Contains(architectures, arch) {
		return nil
	}
	return plan.Refuse(plan.CodeUnsupported, "use ethos for amd64 or arm64: docs/install.md", "ethos-sandbox cannot enforce a boundary on linux/%s: its system call filters are for amd64 and arm64", arch)
}
