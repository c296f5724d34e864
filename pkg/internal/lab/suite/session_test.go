//go:build lab && linux

package suite

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
)

// program runs ethos-sandbox and returns what it printed.
func program(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("ethos-sandbox", args...)
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", args, err, out)
	}
	return string(out)
}

// inSession starts a session and returns its supervisor and a function that runs a command in it.
func inSession(t *testing.T, name string) (supervisor int, run func(flags []string, argv ...string) ended) {
	t.Helper()
	work := t.TempDir()
	probetest.Removable(t, work)
	start := exec.Command("ethos-sandbox", "session", "start", "--name", name, "--plain-git", "--memory", "512M", "--pids", "100", "--ro", self(t))
	start.Dir = work
	if out, err := start.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() { exec.Command("ethos-sandbox", "session", "end", name).Run() }) // it may have ended
	var all []struct {
		Name string
		PID  int
	}
	if err := json.Unmarshal([]byte(program(t, "session", "list", "--json")), &all); err != nil || len(all) != 1 || all[0].Name != name {
		t.Fatalf("%+v, %v", all, err)
	}
	return all[0].PID, func(flags []string, argv ...string) ended {
		t.Helper()
		evidence := filepath.Join(t.TempDir(), "evidence")
		cmd := exec.Command("ethos-sandbox", append(append([]string{"run", "--session", name, "--evidence", evidence}, flags...), append([]string{"--"}, argv...)...)...)
		var out, errs strings.Builder
		cmd.Dir, cmd.Stdout, cmd.Stderr = work, &out, &errs
		_ = cmd.Run() // its status is looked at
		e := ended{status: cmd.ProcessState.ExitCode(), stdout: out.String(), stderr: errs.String()}
		text, err := os.ReadFile(evidence)
		if err == nil {
			err = json.Unmarshal(text, &e.Result)
		}
		if err != nil {
			t.Fatalf("%v; status %d: %s", err, e.status, e.stderr)
		}
		return e
	}
}

// TestHeldSession : a command of a session ends at its limit, or at the session's, as a whole, and the session goes on.
func TestHeldSession(t *testing.T) {
	_, run := inSession(t, "held")
	for name, flags := range map[string][]string{"its own": {"--memory", "64M"}, "the session's": nil} {
		e := run(flags, attack(t, "eat", 800)...)
		if e.status != 128+int(syscall.SIGKILL) || e.Status != record.StatusOOM || strings.Contains(e.stdout, "held") {
			t.Errorf("%s: status %d, %s: %s%s", name, e.status, e.Status, e.stdout, e.stderr)
		}
		e.held(t)
	}
	twin := run([]string{"--memory", "64M"}, attack(t, "eat", 16)...)
	if twin.status != 0 || twin.stdout != "held 16\n" || twin.Capture.Sandbox.Usage.PeakMemoryBytes < 16*mib || twin.Capture.Sandbox.Usage.CPUSeconds == 0 {
		t.Errorf("below the limit: status %d, %+v: %s%s", twin.status, twin.Capture.Sandbox.Usage, twin.stdout, twin.stderr)
	}
	if e := run([]string{"--pids", "20", "--require", "cgroup"}, attack(t, "fork", 60)...); !strings.Contains(e.stdout, "resource temporarily unavailable") {
		t.Errorf("status %d: %s%s", e.status, e.stdout, e.stderr)
	}
	program(t, "session", "end", "held")
	noneLeft(t)
}

// TestHeldSessionKilled : when the supervisor of a session is killed, the next run removes its cgroups.
func TestHeldSessionKilled(t *testing.T) {
	supervisor, inside := inSession(t, "killed")
	inside(nil, "sh", "-c", "exec >/dev/null 2>&1; setsid sleep 876543 &")
	if len(leaves(t)) < 2 { // the session's, and that of what it left
		t.Errorf("%v", leaves(t))
	}
	if err := syscall.Kill(supervisor, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for processes(t, "876543") > 0 {
		time.Sleep(10 * time.Millisecond)
	}
	run(t, []string{"--memory", "64M"}, "true")
	noneLeft(t)
}

// TestLackSession : without a cgroup a watch ends a command at its limit, says so, and the session goes on.
func TestLackSession(t *testing.T) {
	_, run := inSession(t, "lack")
	e := run([]string{"--memory", "64M"}, attack(t, "keep", 200)...)
	if e.status != 128+int(syscall.SIGKILL) || e.Status != record.StatusOOM || e.control(t, "cgroup").State != "degraded" {
		t.Errorf("status %d, %s, %+v: %s%s", e.status, e.Status, e.control(t, "cgroup"), e.stdout, e.stderr)
	}
	if twin := run([]string{"--memory", "64M"}, attack(t, "eat", 16)...); twin.status != 0 || twin.stdout != "held 16\n" {
		t.Errorf("below the limit: status %d: %s%s", twin.status, twin.stdout, twin.stderr)
	}
	if e := run([]string{"--memory", "64M", "--require", "cgroup"}, "echo", "ran"); e.status != 125 || e.stdout != "" {
		t.Errorf("status %d: %s", e.status, e.stdout)
	}
}
