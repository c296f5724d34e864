//go:build unix

package exec

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/plan"
)

// A stand-in for sandbox-exec(1) that knows no profiles. It says which arguments it got, and becomes the command.
const fakeProgram = `#!/bin/sh
[ "$1" = -D ] && [ "$3" = -p ] || exit 64
case "$4" in "(version 1)
(deny default)
"*) ;; *) exit 65 ;; esac
shift 4
`

// What a stand-in does to the probe, whose last argument is the directory that it must not reach: as if the profile were in force, or not.
const (
	fakeConfines = `case "$3" in *made*) exec "$1" "$2" "$3" sh "$5" /dev/null/nowhere ;; esac
exec "$@"
`
	fakeConfinesNothing = `exec "$@"
`
	fakeLetsRead = `case "$3" in *made*) mkdir "$5/read" && cp "$6/secret" "$5/read" && exec "$1" "$2" "$3" sh "$5" "$5/read/../../inside/read" ;; esac
exec "$@"
`
	fakeRunsNothing   = "exit 0\n"
	fakeSaysThatHeld  = "exit 42\n"
	fakeLetsNotWrite  = "exec \"$1\" \"$2\" \"$3\" sh /dev/null/nowhere /dev/null/nowhere\n"
	fakeRefusesByText = "echo 'sandbox-exec: profile:3: unbound variable' >&2; exit 65\n"
)

// fakeMac is a Mac whose sandbox-exec is a stand-in.
func fakeMac(t *testing.T, does string) macOS {
	t.Helper()
	program := filepath.Join(t.TempDir(), "sandbox-exec")
	if err := os.WriteFile(program, []byte(fakeProgram+does), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	return macOS{"darwin", program, "/bin/sh"}
}

// seatbeltPlan is the plan of a script in a work space, and the work space.
func seatbeltPlan(t *testing.T, script string, change func(*plan.Spec)) *plan.Plan {
	t.Helper()
	work := t.TempDir()
	spec := plan.Spec{
		Asked: capability.OnProfile("workspace"), Argv: []string{"/bin/sh", "-c", script}, Dir: work, Workspace: work, Backend: plan.Seatbelt,
		Environ: []string{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin", "SECRET_TOKEN=x", "DYLD_INSERT_LIBRARIES=/x"},
	}
	if change != nil {
		change(&spec)
	}
	p, err := plan.Build(spec, plan.HostFiles{}, os.Geteuid())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSeatbeltRuns the command with its environment, limits, streams, status, and a private directory that is gone afterwards.
func TestSeatbeltRuns(t *testing.T) {
	m := fakeMac(t, fakeConfines)
	p := seatbeltPlan(t, `echo "$TMPDIR"; : > "$TMPDIR/mine" && mkdir "$TMPDIR/shut" && chmod 0 "$TMPDIR/shut"; ulimit -n; ulimit -c; env; read -r line && echo "got $line"; exit 3`, func(s *plan.Spec) { s.OpenFiles = 77 })
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	in, feed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	feed.WriteString("a line\n")
	feed.Close()
	out, err := m.run(context.Background(), p, IO{Stdin: in, Stdout: write, Stderr: os.Stderr})
	write.Close()
	if err != nil || out.Status != record.StatusExited || out.ExitCode != 3 || out.Duration <= 0 {
		t.Fatalf("%v %+v", err, out)
	}
	buf := make([]byte, 64<<10)
	n, _ := read.Read(buf)
	lines := strings.Split(strings.TrimSpace(string(buf[:n])), "\n")
	if _, err := os.Lstat(filepath.Dir(lines[0])); err == nil || !strings.Contains(lines[0], "ethos-seatbelt-") {
		t.Errorf("private directory %s is left", lines[0])
	}
	if lines[1] != "77" || lines[2] != "0" || !slices.Contains(lines, "got a line") {
		t.Errorf("%q", lines)
	}
	for _, line := range lines {
		if strings.HasPrefix(line, "SECRET_TOKEN") || strings.HasPrefix(line, "DYLD_") || strings.Contains(line, plan.Scratch) {
			t.Errorf("the environment has %s", line)
		}
	}
}

// TestSeatbeltProves: where the probe can do what it must not, or nothing is known of it, the command does not start.
func TestSeatbeltProves(t *testing.T) {
	for name, does := range map[string]string{
		"confines nothing": fakeConfinesNothing, "lets read": fakeLetsRead, "runs nothing": fakeRunsNothing, "says that it held": fakeSaysThatHeld,
		"no own directory": fakeLetsNotWrite, "refuses the profile": fakeRefusesByText,
	} {
		t.Run(name, func(t *testing.T) {
			m := fakeMac(t, does)
			p := seatbeltPlan(t, ": > ran", nil)
			out, err := m.run(context.Background(), p, IO{})
			var refusal *plan.Refusal
			if !errors.As(err, &refusal) || refusal.Code != plan.CodeVerify || refusal.Hint == "" || !out.Evidence.Denied {
				t.Errorf("%v %+v", err, out)
			}
			if _, err := os.Lstat(filepath.Join(p.Dir, "ran")); err == nil {
				t.Error("the command ran")
			}
			for _, line := range out.Evidence.Controls {
				if line.State == control.Enforced || line.State == control.Degraded {
					t.Errorf("the evidence claims %+v", line)
				}
			}
			left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*"))
			if len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// TestSeatbeltRefuses what cannot be had, before anything starts.
func TestSeatbeltRefuses(t *testing.T) {
	m := fakeMac(t, fakeConfines)
	for name, c := range map[string]struct {
		code   string
		change func(*macOS, *plan.Plan, *IO)
	}{
		"another system":  {plan.CodeUnsupported, func(m *macOS, _ *plan.Plan, _ *IO) { m.system = "linux" }},
		"no sandbox-exec": {plan.CodeUnsupported, func(m *macOS, _ *plan.Plan, _ *IO) { m.program += ".gone" }},
		"info-fd":         {plan.CodeUnsupported, func(_ *macOS, _ *plan.Plan, io *IO) { io.Began = func(int) error { return nil } }},
		"descriptor":      {plan.CodeDeclaration, func(_ *macOS, p *plan.Plan, _ *IO) { p.Descriptors = []int{1 << 16} }},
		"not found":       {plan.CodeNotFound, func(_ *macOS, p *plan.Plan, _ *IO) { p.Argv = []string{"there-is-no-such-command"} }},
		"hidden":          {plan.CodeNotFound, func(m *macOS, p *plan.Plan, _ *IO) { p.Argv = []string{m.program} }},
		"no program":      {plan.CodeNotExec, func(_ *macOS, p *plan.Plan, _ *IO) { p.Argv = []string{"./text"} }},
		"required":        {plan.CodeRequire, func(_ *macOS, p *plan.Plan, _ *IO) { p.Require = []string{"network"} }},
		"seen temporary":  {plan.CodeDeclaration, func(_ *macOS, p *plan.Plan, _ *IO) { t.Setenv("TMPDIR", p.Workspace) }},
		"contradiction": {plan.CodeVerify, func(_ *macOS, p *plan.Plan, _ *IO) {
			p.Paths = append(p.Paths, plan.Entry{Path: p.Dir + "/own", Access: plan.Private, Exists: true, Dir: true}) // nothing in a profile is private
		}},
		"no path": {plan.CodeUnsupported, func(_ *macOS, p *plan.Plan, _ *IO) { p.DenyExec = []string{"/new\nline"} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			p := seatbeltPlan(t, ": > ran", nil)
			if err := os.WriteFile(filepath.Join(p.Dir, "text"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			mac, io := m, IO{}
			c.change(&mac, p, &io)
			_, err := mac.run(context.Background(), p, io)
			var refusal *plan.Refusal
			if !errors.As(err, &refusal) || refusal.Code != c.code || refusal.Hint == "" {
				t.Errorf("%v, want %s", err, c.code)
			}
			if _, err := os.Lstat(filepath.Join(p.Dir, "ran")); err == nil {
				t.Error("the command ran")
			}
		})
	}
	p := seatbeltPlan(t, "exit 0", nil)
	p.Require = []string{"environment", "rlimits"}
	if out, err := m.run(context.Background(), p, IO{}); err != nil || out.ExitCode != 0 {
		t.Errorf("what is in force is required, and it is refused: %v", err)
	}
}

// alive reports whether a process exists and is no zombie.
func alive(pid int) bool {
	text, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(text)), "Z")
}

// TestSeatbeltEnds: the time limit, the end of the context and signals reach the whole process group.
func TestSeatbeltEnds(t *testing.T) {
	m := fakeMac(t, fakeConfines)
	forever := `trap '' HUP; (while :; do sleep 0.01; done) & echo $! > new && mv new child; while :; do sleep 0.01; done`
	gone := func(t *testing.T, p *plan.Plan) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(p.Dir, "child"))
		if err != nil {
			t.Fatal(err)
		}
		child, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		for range 1000 { // the signal has been sent, and the kernel takes its time
			if !alive(child) {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("process %d is alive", child)
	}
	p := seatbeltPlan(t, forever, func(s *plan.Spec) { s.Timeout = 3 * time.Second })
	if out, err := m.run(context.Background(), p, IO{}); err != nil || out.Status != record.StatusTimeout || out.ExitStatus() != StatusTimeout {
		t.Errorf("%v %+v", err, out)
	}
	gone(t, p)
	p = seatbeltPlan(t, forever, nil)
	signals := make(chan os.Signal)
	go func() {
		for {
			if _, err := os.Stat(filepath.Join(p.Dir, "child")); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		signals <- syscall.SIGTERM
	}()
	if out, err := m.run(context.Background(), p, IO{Signals: signals}); err != nil || out.Status != record.StatusSignaled || out.Signal != syscall.SIGTERM || out.ExitStatus() != 128+15 {
		t.Errorf("%v %+v", err, out)
	}
	gone(t, p)
	p = seatbeltPlan(t, forever, nil)
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		for {
			if _, err := os.Stat(filepath.Join(p.Dir, "child")); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		stop()
	}()
	if out, err := m.run(ctx, p, IO{}); err != nil || out.Status != record.StatusSignaled || out.Signal != syscall.SIGKILL {
		t.Errorf("%v %+v", err, out)
	}
	gone(t, p)
}

// TestSeatbeltEvidence has a line for every control, says of none that it is in force that only the profile holds, and gives a reason for each that is not.
func TestSeatbeltEvidence(t *testing.T) {
	m := fakeMac(t, fakeConfines)
	p := seatbeltPlan(t, "exit 0", func(s *plan.Spec) { s.MemoryBytes, s.Timeout = 1<<30, time.Minute })
	out, err := m.run(context.Background(), p, IO{})
	if err != nil {
		t.Fatal(err)
	}
	e := &out.Evidence
	want := append(record.Controls(), plan.Seatbelt)
	var names, enforced []string
	for _, line := range e.Controls {
		names = append(names, line.Name)
		switch line.State {
		case control.Enforced:
			enforced = append(enforced, line.Name)
		case control.Degraded, control.Absent:
			if line.Reason == "" || line.Enforced != "" {
				t.Errorf("%+v", line)
			}
		}
	}
	if !slices.Equal(names, want) || !slices.Equal(enforced, []string{"rlimits", "environment"}) {
		t.Errorf("%v, in force %v", names, enforced)
	}
	if e.Backend != plan.Seatbelt || e.NetworkIsolated || e.ProcessIsolated || e.TimeoutEnforced || e.SeccompEnabled || e.CgroupEnabled || len(e.WritePaths) != 1 {
		text, _ := json.Marshal(e)
		t.Errorf("%s", text)
	}
}
