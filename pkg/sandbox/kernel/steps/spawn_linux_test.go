package steps

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
)

// startSpawner starts a spawner in a user namespace, and ends it with the test.
func startSpawner(t *testing.T) *Process {
	t.Helper()
	probetest.Need(t, probetest.UserNS)
	p, err := Start(&Program{CloneFlags: unix.CLONE_NEWUSER, Command: Ready(), Spawns: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		if _, err := p.Wait(); err != nil {
			t.Error(err)
		}
	})
	for waiting, finalized := false, false; !waiting || !finalized; {
		event, err := p.Next(time.Now().Add(patience))
		if err != nil {
			t.Fatal(err)
		}
		switch event.Kind {
		case Waiting:
			waiting = true
		case Finalized:
			finalized = true
		default:
			t.Fatalf("%+v", event)
		}
	}
	if err := p.Go(); err != nil {
		t.Fatal(err)
	}
	return p
}

// script is an image that runs a script of sh.
func script(p *Process, text string, env ...string) *Image {
	i := p.NewImage()
	i.Add(i.Begun())
	for n, s := range i.Streams {
		i.Add(call("dup3", unix.SYS_DUP3, From(s), Int(n), Int(0)))
	}
	i.Add(call("close_range", unix.SYS_CLOSE_RANGE, Int(3), Int(uint32(1<<32-1)), Int(unix.CLOSE_RANGE_CLOEXEC)), i.Mask(0))
	i.Add(i.Ready()...)
	missing := call("execve", unix.SYS_EXECVE, i.Str("/nonexistent/sh"), i.Strings([]string{"sh"}), i.Strings(nil))
	missing.Ignore = []syscall.Errno{syscall.ENOENT}
	i.Add(missing)
	i.Add(call("execve", unix.SYS_EXECVE, i.Str("/bin/sh"), i.Strings([]string{"sh", "-c", text}), i.Strings(append(env, "PATH=/usr/bin:/bin"))))
	return i
}

// result is how a spawned command ended, and what it said.
type result struct {
	status syscall.WaitStatus
	output string
	err    error
}

// spawn runs a script to its end.
func spawn(t *testing.T, p *Process, i *Image) (r result) {
	t.Helper()
	out, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	streams := [3]int{int(null.Fd()), int(out.Fd()), int(out.Fd())}
	c, err := p.Spawn(i, streams, p.TakeSpare())
	if errors.Is(err, ErrSpare) {
		c, err = p.Spawn(i, streams, nil)
	}
	if err != nil {
		return result{err: err}
	}
	defer c.Close()
	for {
		event, err := c.Next(time.Now().Add(patience))
		switch {
		case err != nil || event.Kind == Gone || event.Kind == Idle:
			return result{err: fmt.Errorf("event %d: %w", event.Kind, err)}
		case event.Kind == Begins:
			if err := c.Held(event.CommandPID); err != nil {
				t.Error(err)
			}
		case event.Kind == Waiting:
			if err := c.Go(); err != nil {
				t.Error(err)
			}
		case event.Kind == Failed:
			return result{err: event.Err}
		case event.Kind == Exited:
			text, err := os.ReadFile(out.Name())
			return result{status: event.Status, output: string(text), err: err}
		}
	}
}

// TestSpawn: commands of one spawner, one after another: their statuses, their arguments, and that nothing of one is in the next.
func TestSpawn(t *testing.T) {
	p := startSpawner(t)
	long := strings.Repeat("x", 100<<10)
	for _, c := range []struct {
		script string
		env    []string
		status syscall.WaitStatus
		output string
	}{
		{"echo $$ $PPID; exit 7", nil, 7 << 8, "3 2\n"},
		{"kill -SEGV $$", nil, 11, ""},
		{"printf %s \"$A\" | wc -c", []string{"A=" + long}, 0, fmt.Sprintln(100 << 10)},
		{"echo ${A-none}; ls /proc/self/fd | wc -l; grep SigBlk /proc/self/status", nil, 0, "none\n4\nSigBlk:\t0000000000000000\n"},
		{"exec >/dev/null; sleep 1000 & exit 3", nil, 3 << 8, ""},
		{"for p in 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do test $p = $$ || ! kill $p || echo killed; done 2>/dev/null; :", nil, 0, "killed\n"}, // what a command left lives on, and is in reach
	} {
		if got := spawn(t, p, script(p, c.script, c.env...)); got.err != nil || got.status != c.status || got.output != c.output {
			t.Errorf("%s: %d, %.200q, %v", c.script, got.status, got.output, got.err)
		}
	}
}

// TestSpawnFails: what cannot run ends itself alone, and says by what call.
func TestSpawnFails(t *testing.T) {
	p := startSpawner(t)
	i := p.NewImage()
	i.Add(i.Begun())
	i.Add(i.Ready()...)
	i.Add(call("execve", unix.SYS_EXECVE, i.Str("/nonexistent"), i.Strings([]string{"x"}), i.Strings(nil)))
	var step *StepError
	if got := spawn(t, p, i); !errors.As(got.err, &step) || step.Step.Call != "execve" || step.Errno != syscall.ENOENT {
		t.Errorf("%+v", got)
	}
	if got := spawn(t, p, script(p, "true", strings.Repeat("A", regionSize))); !errors.Is(got.err, ErrTooLarge) {
		t.Errorf("%+v", got.err)
	}
	if got := spawn(t, p, script(p, "true", "A="+strings.Repeat("A", 200<<10))); !errors.As(got.err, &step) || step.Errno != syscall.E2BIG {
		t.Errorf("%+v", got.err) // MAX_ARG_STRLEN, execve(2)
	}
	if got := spawn(t, p, script(p, "echo on")); got.output != "on\n" {
		t.Errorf("%+v", got)
	}
}

// TestSpawnManyAtOnce: more commands than a spawner holds are refused, and the others run.
func TestSpawnManyAtOnce(t *testing.T) {
	p := startSpawner(t)
	var all sync.WaitGroup
	for n := range 64 {
		all.Go(func() {
			if got := spawn(t, p, script(p, fmt.Sprint("exit ", n))); got.err != nil || got.status.ExitStatus() != n {
				t.Errorf("%d: %+v", n, got)
			}
		})
	}
	all.Wait()
}

// TestSpawnerEnds: with the spawner everything ends, and each command is told of.
func TestSpawnerEnds(t *testing.T) {
	p := startSpawner(t)
	if got := spawn(t, p, script(p, "kill -9 2; sleep 1000")); got.err == nil {
		t.Errorf("%+v", got)
	}
	event, err := p.Next(time.Now().Add(patience))
	if err != nil || event.Kind != Exited {
		t.Errorf("%+v, %v", event, err)
	}
}

// TestSpawnerForgetsHeap: a spawner does not keep its parent's heap, of which init has a copy.
func TestSpawnerForgetsHeap(t *testing.T) {
	heap := make([]byte, 16<<20)
	for i := range heap {
		heap[i] = 1
	}
	p := startSpawner(t)
	runtime.KeepAlive(heap)
	if r := spawn(t, p, script(p, "true")); r.err != nil || r.status != 0 {
		t.Fatalf("%+v", r)
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", p.PID, p.PID))
	if err != nil {
		t.Fatal(err)
	}
	if own, parents := anonymous(t, strings.TrimSpace(string(children))), anonymous(t, fmt.Sprint(p.PID)); parents-own < len(heap)>>10 {
		t.Errorf("the spawner has %d KiB, init %d", own, parents)
	}
}

// TestSpawnerStartedWhileMarking: a spawner that was cloned while the heap was being marked needs nothing of the runtime.
func TestSpawnerStartedWhileMarking(t *testing.T) {
	over := make(chan struct{})
	var marking sync.WaitGroup
	marking.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
				runtime.GC()
			}
		}
	})
	defer marking.Wait()
	defer close(over)
	for range 20 {
		p := startSpawner(t)
		if r := spawn(t, p, script(p, "echo on")); r.output != "on\n" {
			t.Fatalf("%+v", r)
		}
	}
}

// anonymous returns the anonymous memory of a process in KiB.
func anonymous(t *testing.T, pid string) (kib int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", pid, "status"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\nRssAnon:")
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Fatal(err)
	}
	return kib
}
