package e2e

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSignalledReply: a signal that ends a hook while it waits for the record blocks the call, and is named.
func TestSignalledReply(t *testing.T) {
	s := newSession(t)
	for patience := 200 * time.Millisecond; ; patience *= 2 { // until it catches signals one kills it, which the agent sees
		cmd := s.command("ethos-decide", "--reply", "claude")
		var errs bytes.Buffer
		cmd.Stderr = &errs
		in := s.stdin(cmd)
		s.start(cmd)
		time.Sleep(patience)
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		err := cmd.Wait()
		in.Close()
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == -1 && patience < 10*time.Second {
			continue
		}
		if exit == nil || exit.ExitCode() != 2 || !strings.Contains(errs.String(), "this was not run: a signal ended ethos-decide: terminated") {
			t.Errorf("%v\n%s", err, errs.String())
		}
		return
	}
}
