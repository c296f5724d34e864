//go:build lab && linux

package suite

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
)

const mib = 1 << 20

func TestHeldMemory(t *testing.T) {
	e := run(t, []string{"--memory", "64M"}, attack(t, "eat", 500)...)
	if e.status != 128+int(unix.SIGKILL) || e.Status != record.StatusOOM || strings.Contains(e.stdout, "held") {
		t.Errorf("status %d, %s: %s%s", e.status, e.Status, e.stdout, e.stderr)
	}
	if peak := e.Capture.Sandbox.Usage.PeakMemoryBytes; peak < 56*mib || peak > 65*mib { // a dying process is charged beyond the limit
		t.Errorf("the peak was %d bytes", peak)
	}
	e.held(t)
	noneLeft(t)
	twin := run(t, []string{"--memory", "64M"}, attack(t, "eat", 16)...)
	if twin.status != 0 || twin.stdout != "held 16\n" || twin.Capture.Sandbox.Usage.PeakMemoryBytes < 16*mib {
		t.Errorf("below the limit: status %d, peak %d: %s%s", twin.status, twin.Capture.Sandbox.Usage.PeakMemoryBytes, twin.stdout, twin.stderr)
	}
}

// TestHeldTogether : the limit is that of the tree, and one kill ends all of it.
func TestHeldTogether(t *testing.T) {
	keep := strings.Join(attack(t, "keep", 40), " ")
	e := run(t, []string{"--memory", "64M"}, "sh", "-c", "sleep 987654 & "+keep+" & "+keep+" & wait; echo survived")
	if e.Status != record.StatusOOM || strings.Contains(e.stdout, "survived") {
		t.Errorf("%s: %s%s", e.Status, e.stdout, e.stderr)
	}
	if n := processes(t, "987654"); n != 0 {
		t.Errorf("%d processes outlived the limit", n)
	}
	noneLeft(t)
}

// TestHeldShared : memory that is in no page table counts as well.
func TestHeldShared(t *testing.T) {
	if e := run(t, []string{"--memory", "64M"}, attack(t, "memfd", 300)...); e.Status != record.StatusOOM || strings.Contains(e.stdout, "held") {
		t.Errorf("%s: %s%s", e.Status, e.stdout, e.stderr)
	}
	twin := run(t, []string{"--memory", "64M"}, attack(t, "memfd", 16)...)
	if twin.status != 0 || twin.stdout != "held 16\n" {
		t.Errorf("below the limit: status %d: %s%s", twin.status, twin.stdout, twin.stderr)
	}
	noneLeft(t)
}

// TestHeldSwap : what is not memory is not a way out. The machine must have swap, or the test shows nothing.
func TestHeldSwap(t *testing.T) {
	var before, after unix.Sysinfo_t
	if err := unix.Sysinfo(&before); err != nil || before.Totalswap == 0 {
		t.Fatalf("the machine has no swap: %v", err)
	}
	e := run(t, []string{"--memory", "64M"}, attack(t, "eat", 96)...)
	if err := unix.Sysinfo(&after); err != nil {
		t.Fatal(err)
	}
	if e.Status != record.StatusOOM || after.Freeswap+8*mib < before.Freeswap {
		t.Errorf("%s; free swap %d, then %d: %s", e.Status, before.Freeswap, after.Freeswap, e.stderr)
	}
}

func TestHeldPids(t *testing.T) {
	e := run(t, []string{"--pids", "30"}, attack(t, "fork", 200)...)
	started, reason, ok := strings.Cut(strings.TrimSpace(e.stdout), ": ")
	n, err := strconv.Atoi(started)
	if !ok || err != nil || n < 5 || n > 29 || !strings.Contains(reason, "resource temporarily unavailable") {
		t.Errorf("status %d: %s%s", e.status, e.stdout, e.stderr)
	}
	if peak := e.Capture.Sandbox.Usage.PeakPids; peak > 31 {
		t.Errorf("peak of %d processes", peak)
	}
	e.held(t)
	noneLeft(t)
}

// TestHeldBomb : while a bomb of processes is at its limit, the machine answers.
func TestHeldBomb(t *testing.T) {
	s := prepare(t, []string{"--pids", "30"}, attack(t, "bomb", 0)...)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	current := filepath.Join(awaitLeaf(t), "pids.current")
	await(t, "the bomb did not come to its limit", func() bool {
		text, _ := os.ReadFile(current)
		n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		return n >= 20 // an ordinary user's resource limit, which counts threads as well, may come first
	})
	for range 5 {
		if err := exec.Command("/bin/true").Run(); err != nil {
			t.Errorf("the machine cannot start a process: %v", err)
		}
	}
	if err := s.Process.Signal(unix.SIGTERM); err != nil {
		t.Error(err)
	}
	e := s.end(t, s.Wait())
	if peak := e.Capture.Sandbox.Usage.PeakPids; peak < 20 || peak > 31 {
		t.Errorf("peak of %d processes", peak)
	}
	e.held(t)
	noneLeft(t)
}

// TestHeldCPU : the share is that of the tree, however many processors it spins on.
func TestHeldCPU(t *testing.T) {
	share := func(flags ...string) int {
		e := run(t, flags, attack(t, "spin", 3)...)
		n, err := strconv.Atoi(strings.TrimSpace(e.stdout))
		if err != nil {
			t.Fatalf("%v: %s", err, e.stderr)
		}
		return n
	}
	var got []int // the machine itself may not get its time where others are busy, so one of several is enough: a wrong limit never gives it
	for len(got) < 6 && !slices.ContainsFunc(got, func(n int) bool { return 45 <= n && n <= 55 }) {
		got = append(got, share("--cpu", "50"))
	}
	if last := got[len(got)-1]; last < 45 || last > 55 {
		t.Errorf("a spinner with 50 percent got %d", got)
	}
	if got := share("--cpu", "150"); got < 80 {
		t.Errorf("a spinner with 150 percent got %d", got)
	}
	noneLeft(t)
}

func TestHeldTime(t *testing.T) {
	script := "setsid sleep 876543 & (setsid sh -c 'sleep 876543; true' >/dev/null 2>&1 &); (sleep 876543 &); trap '' TERM; sleep 876543; sleep 876543"
	e := run(t, []string{"--timeout", "3s", "--memory", "200M"}, "sh", "-c", script)
	if e.status != 124 || e.Status != record.StatusTimeout {
		t.Errorf("status %d, %s: %s", e.status, e.Status, e.stderr)
	}
	if n := processes(t, "876543"); n != 0 {
		t.Errorf("%d processes outlived the time limit", n)
	}
	e.held(t)
	noneLeft(t)
}

// TestHeldSettings reads the cgroup of a run from outside while it lasts. The sandbox's init is one process more than what was asked for.
func TestHeldSettings(t *testing.T) {
	s := prepare(t, []string{"--memory", "64M", "--pids", "77", "--cpu", "50"}, attack(t, "wait", 1000)...)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	dir := awaitLeaf(t)
	for name, want := range map[string]string{
		"memory.max": strconv.Itoa(64 * mib), "memory.swap.max": "0", "memory.oom.group": "1", "pids.max": "78", "cpu.max": "50000 100000",
	} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); strings.TrimSpace(string(text)) != want {
			t.Errorf("%s is %q, want %q; %v", name, text, want, err)
		}
	}
	if err := s.Process.Signal(unix.SIGTERM); err != nil {
		t.Error(err)
	}
	s.end(t, s.Wait())
	noneLeft(t)
}

// awaitLeaf waits for the cgroup of a run to have a process.
func awaitLeaf(t *testing.T) string {
	t.Helper()
	var leaf string
	await(t, "no cgroup was made for the run", func() bool {
		for _, dir := range leaves(t) {
			if text, err := os.ReadFile(filepath.Join(dir, "cgroup.procs")); err == nil && len(text) > 0 {
				leaf = dir
			}
		}
		return leaf != ""
	})
	return leaf
}

// await asks until it is so. A machine that is emulated beside others is slow.
func await(t *testing.T, otherwise string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(otherwise)
		}
	}
}

// TestHeldApart : of two runs at once, each has its own limit and its own end.
func TestHeldApart(t *testing.T) {
	quiet := prepare(t, []string{"--memory", "64M"}, "sh", "-c", "while ! test -e go; do sleep 0.1; done; "+strings.Join(attack(t, "eat", 16), " "))
	if err := quiet.Start(); err != nil {
		t.Fatal(err)
	}
	awaitLeaf(t)
	loud := run(t, []string{"--memory", "64M"}, attack(t, "eat", 500)...)
	if err := os.WriteFile(filepath.Join(quiet.Dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	e := quiet.end(t, quiet.Wait())
	if loud.Status != record.StatusOOM || e.status != 0 || e.stdout != "held 16\n" {
		t.Errorf("%s beside %s %d: %s%s", loud.Status, e.Status, e.status, e.stdout, e.stderr)
	}
	e.held(t)
	loud.held(t)
	noneLeft(t)
}

// TestHeldKilled : the end of ethos-sandbox by SIGKILL is the end of what it ran; the next run removes the cgroup.
func TestHeldKilled(t *testing.T) {
	s := prepare(t, []string{"--memory", "64M"}, "sh", "-c", "setsid sleep 765432 & sleep 765432")
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	awaitLeaf(t)
	if err := s.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.Wait()
	await(t, "processes outlived ethos-sandbox", func() bool { return processes(t, "765432") == 0 })
	if e := run(t, []string{"--memory", "64M"}, "true"); e.status != 0 {
		t.Errorf("the next run: status %d: %s", e.status, e.stderr)
	}
	noneLeft(t)
}
