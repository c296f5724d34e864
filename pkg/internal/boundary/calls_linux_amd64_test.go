package boundary

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
)

// TestCallsInterrupted: a signal, and output that nobody reads, end a program
// whose work a session does as they end it otherwise.
func TestCallsInterrupted(t *testing.T) {
	probetest.Whole(t)
	h := hooks(t)
	event := fmt.Sprintf(bash, h.dir, "rm -rf ~")
	for _, program := range []struct{ name, flag string }{{"ethos-facts", "--from"}, {"ethos-decide", "--reply"}} {
		pid := h.server(program.name)
		for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGKILL} {
			ended := func(args ...string) string {
				var c *caller
				if len(args) == 2 {
					c = h.served(pid, program.name, args...)
				} else {
					c = h.call(nil, program.name, args...)
				}
				time.Sleep(200 * time.Millisecond) // until it catches signals, of which nothing tells
				if err := c.cmd.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
				_ = c.cmd.Wait()
				if out := <-c.collected; out != "" {
					t.Errorf("%s %q: %q", program.name, args, out)
				}
				c.in.Close()
				return c.cmd.ProcessState.String()
			}
			if got, want := ended(program.flag, "claude"), ended(program.flag+"=claude"); got != want {
				t.Errorf("%s, %v: %s, and alone %s", program.name, signal, got, want)
			}
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	for _, args := range [][]string{{"--from", "claude"}, {"--from=claude"}} {
		cmd := sandboxed(t, h.dir, args...)
		cmd.Path = strings.TrimSuffix(cmd.Path, "ethos-sandbox") + "ethos-facts"
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(event), w, new(strings.Builder)
		_ = cmd.Run()
		if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGPIPE {
			t.Errorf("%q: %v", args, cmd.ProcessState)
		}
	}
}
