package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/steps"
)

// TestLost: when init is killed, the outcome does not pass for one of the command, and says what happened. A run that was cancelled is its twin: there init did what it was
// told.
func TestLost(t *testing.T) {
	twice(t, func(t *testing.T) {
		for _, killed := range []bool{true, false} {
			spec := script(t, "echo > ready; exec sleep 1000")
			plan := mustBuild(t, spec)
			ctx, cancel := context.WithCancel(context.Background())
			go func() {
				defer cancel()
				for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
					if _, err := os.Lstat(filepath.Join(spec.Workspace, "ready")); err != nil {
						continue
					}
					if killed {
						unix.Kill(ownInit(), unix.SIGKILL)
						time.Sleep(time.Minute / 4)
					}
					return
				}
			}()
			out, _, err := RunCaptured(ctx, plan, nil)
			cancel()
			reason := "the init of the sandbox was killed by SIGKILL before it reported how the command ended"
			if !killed {
				reason = ""
			}
			if err != nil || out.Status != record.StatusSignaled || out.Lost != killed || out.Evidence.Reason != reason {
				t.Errorf("killed %v: %v, %s, lost %v: %q", killed, err, out.Status, out.Lost, out.Evidence.Reason)
			}
		}
	})
}

// ownInit is the init that this process started.
func ownInit() int {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		text, _ := os.ReadFile(file) // it may have ended
		var pid, parent int
		if _, err := fmt.Sscanf(string(text), "%d (", &pid); err != nil {
			continue
		}
		_, rest, ok := strings.Cut(string(text), "("+steps.InitName+") ")
		var state string
		if n, _ := fmt.Sscanf(rest, "%s %d", &state, &parent); ok && n == 2 && parent == os.Getpid() {
			return pid
		}
	}
	return 1 << 30
}
