package trace

import (
	"testing"

	"ethos/pkg/record"
)

// TestLimitsInThePipe holds that the limit which ended a record's command is told
// with the flag that the pipe has for it, and that the evidence stays as it was.
func TestLimitsInThePipe(t *testing.T) {
	evidence := []record.Denial{
		{Layer: "timeout", Kind: record.KindLimit, Remedy: "--timeout 2m0s"},
		{Layer: "cgroup", Kind: record.KindLimit, Remedy: "--memory 512M"},
		{Layer: "output", Kind: record.KindLimit},
		{Layer: "landlock", Kind: record.KindHidden, Remedy: "--ro /x"},
	}
	e := &Entry{Result: &record.Result{Capture: record.Capture{Sandbox: record.Sandbox{Denials: evidence}}}}
	want := []string{"--timeout 2m0s, in the pipe ethos-facts --grant timeout=2m0s", "--memory 512M, in the pipe ethos-facts --grant memory=512", "", "--ro /x"}
	for i, d := range e.Denials() {
		if d.Remedy != want[i] {
			t.Errorf("%s: %q", d.Layer, d.Remedy)
		}
	}
	if evidence[0].Remedy != "--timeout 2m0s" {
		t.Error("the evidence was changed")
	}
}
