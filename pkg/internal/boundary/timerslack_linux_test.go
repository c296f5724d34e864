package boundary

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
)

// slacked gives the test a thread of its own with a timer slack, in nanoseconds,
// which the processes inherit that it starts.
func slacked(t *testing.T, ns uintptr) {
	t.Helper()
	runtime.LockOSThread() // the thread ends with the test
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, ns, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
}

// TestTimerSlack: the programs that are released raise the timer slack of their
// monitor, and give a command the one that they were started with.
func TestTimerSlack(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	const given = 77_777
	said := fmt.Sprintln(given)
	slacked(t, given)
	w := &lodge{t, space(t)}
	w.start()
	defer w.must("session", "end", "w")
	for name, args := range map[string]string{
		"run":               "run -- cat /proc/self/timerslack_ns",
		"no prefork":        "run --net host -- cat /proc/self/timerslack_ns",
		"names":             "run --allow-domain example.org -- cat /proc/self/timerslack_ns",
		"bubblewrap":        "run --backend bwrap -- cat /proc/self/timerslack_ns",
		"session":           "run --session w -- cat /proc/self/timerslack_ns",
		"session, narrowed": "run --session w --net none -- cat /proc/self/timerslack_ns",
		"shell":             "shell -c /proc/self/timerslack_ns",
	} {
		t.Run(name, func(t *testing.T) {
			if name == "bubblewrap" {
				probetest.Need(t, "command:bwrap")
			}
			args := strings.Fields(args)
			if name == "shell" {
				args[2] = "cat " + args[2]
			}
			slacked(t, given)
			if got := (&lodge{t, w.dir}).must(args...); got != said {
				t.Errorf("the command has a slack of %q ns", got)
			}
		})
	}
}

// TestTimerSlackOfGit: git has the slack that ethos-git was started with. Only root
// may read that of another process.
func TestTimerSlackOfGit(t *testing.T) {
	probetest.Need(t, probetest.Root, "command:git")
	const given = 77_777
	slacked(t, given)
	w := &lodge{t, space(t)}
	cmd := sandboxed(t, w.dir)
	if out, err := exec.Command("git", "init", "-q", w.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd.Path = filepath.Join(filepath.Dir(cmd.Path), "ethos-git")
	cmd.Args = []string{cmd.Path, "cat-file", "--batch"}
	in, _ := waiting(t, cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	w.until("git has another slack", func() bool {
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", cmd.Process.Pid))
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/timerslack_ns", cmd.Process.Pid))
		return string(name) == "git\n" && string(text) == fmt.Sprintln(given)
	})
}

// TestTimerSlackOfMonitor: of the program's own threads, the monitor has more slack,
// and the main thread has not. Only root may read that of another process:
// timerslack_ns_show of fs/proc/base.c.
func TestTimerSlackOfMonitor(t *testing.T) {
	probetest.Need(t, probetest.UserNS, probetest.Root)
	const given = 77_777
	slacked(t, given)
	w := &lodge{t, space(t)}
	cmd := sandboxed(t, w.dir, "run", "--", "cat")
	in, _ := waiting(t, cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	w.until("the monitor's slack is not raised, or that of the main thread is", func() bool {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", cmd.Process.Pid))
		raised := 0
		for _, task := range tasks {
			if text, _ := os.ReadFile("/proc/" + filepath.Base(task) + "/timerslack_ns"); string(text) == "200000\n" {
				raised++
			}
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/timerslack_ns", cmd.Process.Pid))
		return err == nil && string(text) == fmt.Sprintln(given) && raised > 0
	})
}
