package boundary

import (
	"errors"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
)

// TestTerminated sends SIGTERM at moments from before main to after the start of the command: none is lost, and what was started ends.
func TestTerminated(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	dir := space(t)
	for i := range 100 {
		cmd := sandboxed(t, dir, "run", "--", "sleep", "1000")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i) * 150 * time.Microsecond)
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		hung := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		if !hung.Stop() {
			t.Fatalf("after %d times 150 µs: the signal was lost", i)
		}
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Fatalf("%v", err)
		}
		if status := exit.Sys().(syscall.WaitStatus); status.ExitStatus() != 128+int(syscall.SIGTERM) && status.Signal() != syscall.SIGTERM {
			t.Errorf("after %d times 150 µs: %v", i, err)
		}
	}
}
