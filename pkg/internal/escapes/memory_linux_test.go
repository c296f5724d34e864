package escapes

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/capability"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
)

// TestSharedMemoryIsBounded: memory that no process has mapped counts towards the limit, with a cgroup and without one, or cannot be had.
func TestSharedMemoryIsBounded(t *testing.T) {
	twice(t, func(t *testing.T) {
		for _, kind := range []string{"memfd", "segment", "scratch"} {
			t.Run(kind, func(t *testing.T) {
				hoard(t, kind, "640", false)
				hoard(t, kind, "24", true)
			})
		}
	})
}

// hoard takes so much memory under a limit of 256 MiB.
func hoard(t *testing.T, kind, mib string, survives bool) {
	t.Helper()
	spec := bare(t, capability.DefaultProfile, self(), attackWord, "hold", kind, mib)
	spec.ReadPaths, spec.MemoryBytes = []string{self()}, 256<<20
	plan, err := sandbox.Build(spec, sandbox.HostFiles{}, os.Geteuid())
	if err != nil {
		t.Fatal(err)
	}
	out, got, err := sandbox.RunCaptured(context.Background(), plan, nil)
	said := got.Stdout.Text + got.Stderr.Text
	refused := slices.ContainsFunc([]string{"ENOSPC", "ENOMEM"}, func(e string) bool { return strings.Contains(said, "errno="+e) })
	if err != nil || strings.Contains(said, "survived") != survives || !survives && out.Status != record.StatusOOM && !refused {
		t.Errorf("%s MiB: %s, %v: %s", mib, out.Status, err, said)
	}
}
