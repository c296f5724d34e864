package control

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
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
