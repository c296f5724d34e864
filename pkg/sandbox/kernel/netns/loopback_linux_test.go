package netns

import (
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/sandbox/kernel/steps"
)

// TestLoopback brings the interface of a new namespace up, or not, and reads both back from outside.
func TestLoopback(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	for _, up := range []bool{true, false} {
		var slots steps.Slots
		p := &steps.Program{CloneFlags: unix.CLONE_NEWUSER | unix.CLONE_NEWNET, Command: steps.Ready()}
		if up {
			p.Init = LoopbackSteps(&slots)
		}
		exec := steps.Step{Call: "execve", Nr: unix.SYS_EXECVE, Args: [6]steps.Arg{steps.Str("/bin/true"), steps.Strings([]string{"true"}), steps.Strings(nil)}}
		p.Command = append(p.Command, exec)
		proc, err := steps.Start(p)
		if err != nil {
			t.Fatal(err)
		}
		var got State
		for waiting := true; waiting; {
			event, err := proc.Next(time.Now().Add(time.Minute))
			switch {
			case err != nil || event.Kind == steps.Failed || event.Kind == steps.Idle || event.Kind == steps.Gone:
				t.Errorf("%v: %+v", err, event)
				waiting = false
			case event.Kind == steps.Waiting:
				if got, err = Read(event.CommandPID, os.ReadFile); err != nil {
					t.Error(err)
				}
				waiting = false
			}
		}
		proc.Kill()
		if _, err := proc.Wait(); err != nil {
			t.Error(err)
		}
		if !slices.Contains(got.Interfaces, "lo") || got.LoopbackUp != up {
			t.Errorf("loopback up %v: %+v", up, got)
		}
	}
}
