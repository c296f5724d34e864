package exec

import (
	"errors"
	"testing"

	"ethos/pkg/sandbox/plan"
)

// TestArchitectures: nothing runs where no system call filter is written for the processor.
func TestArchitectures(t *testing.T) {
	for arch, held := range map[string]bool{"amd64": true, "arm64": true, "386": false, "arm": false, "riscv64": false} {
		err := hasFilters(arch)
		var refusal *plan.Refusal
		if held != (err == nil) || !held && (!errors.As(err, &refusal) || refusal.Code != plan.CodeUnsupported || refusal.Hint == "") {
			t.Errorf("%s: %v", arch, err)
		}
	}
}
