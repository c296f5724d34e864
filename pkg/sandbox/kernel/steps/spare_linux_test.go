package steps

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// spare has a spare made and returns its PID.
func spare(t *testing.T, p *Process) int {
	t.Helper()
	if err := p.Prepare(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if pid := p.Spare(); pid > 0 {
			return pid
		}
	}
	t.Fatal("the spare does not begin")
	return 0
}

// TestSpare: the spare becomes the next command, once, and leaves nothing of
// its own to it.
func TestSpare(t *testing.T) {
	p := startSpawner(t)
	for range 3 {
		pid := spare(t, p)
		inside := innerPID(t, pid)
		if err := p.Prepare(); err != nil || p.Spare() != pid {
			t.Errorf("a second spare: %v", err)
		}
		got := spawn(t, p, script(p, "echo $$ $PPID; ls /proc/self/fd | wc -l; grep SigBlk /proc/self/status; exit 7"))
		words := strings.Fields(got.output)
		if got.err != nil || got.status != 7<<8 || len(words) != 5 || words[0] != inside || words[1] != "2" || words[2] != "4" || words[4] != "0000000000000000" {
			t.Errorf("%+v", got)
		}
		if p.Spare() != 0 {
			t.Error("it can be used again")
		}
		if got := spawn(t, p, script(p, "echo on")); got.output != "on\n" { // without one
			t.Errorf("%+v", got)
		}
	}
}

// TestSpareIsSpoilt: whatever a command does to the spare, the next command
// runs.
func TestSpareIsSpoilt(t *testing.T) {
	p := startSpawner(t)
	for name, spoil := range map[string]func(pid int){
		"killed":    func(pid int) { unix.Kill(pid, unix.SIGKILL) },
		"stopped":   func(pid int) { unix.Kill(pid, unix.SIGSTOP) },
		"signalled": func(pid int) { unix.Kill(pid, unix.SIGTERM) },
		"discarded": func(int) { p.Discard() },
	} {
		pid := spare(t, p)
		spoil(pid)
		for end := time.Now().Add(patience); name != "signalled" && p.Spare() != 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: it is not noticed", name)
			}
		}
		if got := spawn(t, p, script(p, "echo on")); got.output != "on\n" {
			t.Errorf("%s: %+v", name, got)
		}
		if name == "stopped" {
			unix.Kill(pid, unix.SIGKILL)
		}
	}
}

// TestSpareIsShut: a command cannot reach what the spare holds.
func TestSpareIsShut(t *testing.T) {
	p := startSpawner(t)
	c := script(p, "read pid; cat /proc/$pid/environ /proc/$pid/mem /proc/$pid/fd/0 2>/dev/null; readlink /proc/$pid/fd/4; echo shut")
	pid := 0
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	command, err := p.Spawn(c, [3]int{int(r.Fd()), int(out.Fd()), int(out.Fd())})
	if err != nil {
		t.Fatal(err)
	}
	defer command.Close()
	pid = spare(t, p)
	for {
		event, err := command.Next(time.Now().Add(patience))
		if err != nil {
			t.Fatal(err)
		}
		if event.Kind == Waiting {
			command.Go()
			w.WriteString(innerPID(t, pid) + "\n")
			w.Close()
		}
		if event.Kind == Exited {
			break
		}
		if event.Kind == Failed || event.Kind == Gone || event.Kind == Idle {
			t.Fatalf("%+v", event)
		}
	}
	if text, err := os.ReadFile(out.Name()); err != nil || string(text) != "shut\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// innerPID returns the PID of a process in its own namespace.
func innerPID(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	_, rest, _ := strings.Cut(string(text), "\nNSpid:")
	line, _, _ := strings.Cut(rest, "\n")
	fields := strings.Fields(line)
	if err != nil || len(fields) == 0 {
		t.Fatalf("NSpid of %d: %v", pid, err)
	}
	return fields[len(fields)-1]
}
