package steps

import (
	"errors"
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
	verified := 0
	if err := p.Prepare(func(pid int) error { verified = pid; return nil }); err != nil {
		t.Fatal(err)
	}
	if verified == 0 || p.Spare() != verified {
		t.Fatalf("%d was verified, and %d waits", verified, p.Spare())
	}
	return verified
}

// TestSpare: the spare becomes the next command, once, and leaves nothing of
// its own to it.
func TestSpare(t *testing.T) {
	p := startSpawner(t)
	for range 3 {
		pid := spare(t, p)
		inside := innerPID(t, pid)
		if err := p.Prepare(refuse); err != nil || p.Spare() != pid {
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

func refuse(int) error { return errors.New("it is not as it should be") }

// TestSpareIsRefused: a spare that does not pass the verification becomes no
// command, and goes.
func TestSpareIsRefused(t *testing.T) {
	p := startSpawner(t)
	seen := 0
	err := p.Prepare(func(pid int) error { seen = pid; return refuse(pid) })
	if err == nil || p.Spare() != 0 || seen == 0 {
		t.Errorf("spare %d of %d, %v", p.Spare(), seen, err)
	}
	for end := time.Now().Add(patience); unix.Kill(seen, 0) == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it lives on")
		}
	}
	if got := spawn(t, p, script(p, "echo on")); got.output != "on\n" {
		t.Errorf("%+v", got)
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
	command, err := p.Spawn(c, [3]int{int(r.Fd()), int(out.Fd()), int(out.Fd())}, nil)
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
