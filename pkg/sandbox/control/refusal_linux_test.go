package control

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/sandbox/view"
	"ethos/pkg/statedir"
)

// TestCausedRefusal: the hint is that of the cause, whichever step met it.
func TestCausedRefusal(t *testing.T) {
	p := &plan.Plan{Workspace: t.TempDir()}
	step := func(stage, object string, errno syscall.Errno) error {
		return StepRefusal(&steps.StepError{Step: steps.Step{Stage: stage, Call: "write", Object: object}, Errno: errno}, []string{"true"})
	}
	_, homeless := statedir.Dir(func(string) string { return "" })
	for _, c := range []struct {
		err  error
		want string
	}{
		{step("mount", "/tmp", syscall.ENOSPC), "--memory"},
		{step("git settings", plan.SettingsDir+"/0/config", syscall.ENOSPC), "--memory"},
		{step("placeholders", p.Workspace+"/.claude", syscall.ENOSPC), "df " + p.Workspace},
		{&plan.Refusal{Code: plan.CodeSetup, Err: homeless, Hint: "another"}, "XDG_STATE_HOME"},
		{&plan.Refusal{Code: plan.CodeSetup, Err: errors.New("other"), Hint: "another"}, "another"},
	} {
		if r, ok := CausedRefusal(c.err, p).(*plan.Refusal); !ok || !strings.Contains(r.Hint, c.want) {
			t.Errorf("%v: %+v, want %q", c.err, r, c.want)
		}
	}
}

// TestWeakRootHint: what root lacks is named, and nothing else is called that.
func TestWeakRootHint(t *testing.T) {
	mapping := &steps.StepError{Step: steps.Step{Stage: "user_namespace", Call: "write", Object: "/proc/self/uid_map"}, Errno: syscall.EPERM}
	bounds := &steps.StepError{Step: steps.Step{Stage: "privileges", Call: "prctl", Object: "PR_CAPBSET_DROP"}, Errno: syscall.EPERM}
	const setFCap, setPCap = 1 << 31, 1 << 8
	for _, c := range []struct {
		fault *steps.StepError
		uid   int
		has   uint64
		want  string
	}{
		{mapping, 0, 0, "--cap-add=SETFCAP"},
		{mapping, 0, setFCap, ""},
		{mapping, 1000, 0, ""},
		{bounds, 0, setFCap, "--cap-add=SETPCAP"},
		{bounds, 0, setPCap, ""},
		{&steps.StepError{Step: mapping.Step, Errno: syscall.ENOSPC}, 0, 0, ""},
	} {
		if got := weakRootHint(c.fault, c.uid, c.has); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%v as %d with %#x: %q, want %q", c.fault, c.uid, c.has, got, c.want)
		}
	}
}

// TestUpperHint: where no file system carries a view, the hint is where one can be had.
func TestUpperHint(t *testing.T) {
	if got := upperHint(fmt.Errorf("x: %w", view.ErrNoUpper)); !strings.Contains(got, "XDG_STATE_HOME") || !strings.Contains(got, "--volume") {
		t.Errorf("no way out in %q", got)
	}
}
