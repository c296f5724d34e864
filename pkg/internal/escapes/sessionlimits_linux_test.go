package escapes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/capability"
	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/shorttest"
)

// shared is a session whose commands have limits of their own, and a command without any beside them.
type shared struct {
	*sandbox.Session
	neighbour *sandbox.Child
}

const (
	sessionMemory = 1 << 30
	ownMemory     = 128 << 20
)

func startShared(t *testing.T) *shared {
	t.Helper()
	spec := bare(t, capability.DefaultProfile, "true")
	spec.ReadPaths, spec.MemoryBytes, spec.Pids = []string{self()}, sessionMemory, 400
	plan, err := sandbox.Build(spec, sandbox.HostFiles{}, os.Geteuid())
	if err != nil {
		t.Fatal(err)
	}
	s, err := sandbox.Start(t.Context(), plan, sandbox.IO{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.End()
		if _, err := s.Wait(); err != nil {
			t.Error(err)
		}
	})
	in := &shared{Session: s}
	if in.neighbour, _, err = in.spawn(sandbox.Limits{}, "exec sleep 10000"); err != nil {
		t.Fatal(err)
	}
	return in
}

// spawn starts a script, which prints to a file.
func (s *shared) spawn(own sandbox.Limits, script string) (*sandbox.Child, *os.File, error) {
	out, err := os.CreateTemp(s.Plan().Workspace, "out")
	if err != nil {
		return nil, nil, err
	}
	script = fmt.Sprintf("x() { '%s' %s \"$@\"; }\nX=\"'%s' %s\"\n%s", self(), attackWord, self(), attackWord, script)
	child, err := s.Spawn(context.Background(), sandbox.Command{
		Argv: []string{"sh", "-c", script}, Env: s.Plan().Env, Dir: s.Plan().Dir, Umask: 0o22, Streams: [3]*os.File{nil, out, out}, Limits: own,
	})
	return child, out, err
}

// said is how a script ended, and what it printed.
type said struct {
	status syscall.WaitStatus
	child  *sandbox.Child
	text   string
}

func (s *shared) say(t *testing.T, own sandbox.Limits, script string) said {
	t.Helper()
	child, out, err := s.spawn(own, script)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	status, err := child.Wait()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return said{status, child, string(text)}
}

// alone waits until nothing but the neighbour is alive inside.
func (s *shared) alone(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !slices.Equal(s.Processes(), []int{s.neighbour.PID}); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("alive are %v, and the neighbour is %d", s.Processes(), s.neighbour.PID)
		}
	}
}

// held reports whether a cgroup holds the limits.
func (s *shared) held() bool { return s.group() != "" }

// group is the directory of the session's cgroup, "" without one.
func (s *shared) group() string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", s.Init()))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok && filepath.Base(path) == "init" {
			return filepath.Join("/sys/fs/cgroup", filepath.Dir(path))
		}
	}
	return ""
}

// leaves are the cgroups of commands.
func (s *shared) leaves(t *testing.T) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(s.group())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != "init" {
			list = append(list, e.Name())
		}
	}
	return list
}

func (r said) control(name string) record.Control {
	e := r.child.Evidence()
	return e.Controls[slices.IndexFunc(e.Controls, func(c record.Control) bool { return c.Name == name })]
}

// TestSessionLimits: what limits one command of a session ends it as a whole, whatever it does to leave, and nothing else.
func TestSessionLimits(t *testing.T) {
	probetest.Whole(t)
	twice(t, func(t *testing.T) {
		s := startShared(t)
		t.Logf("in the cgroup %q", s.group())
		t.Run("memory", s.memory)
		t.Run("memory that is left behind", s.leftBehind)
		t.Run("processes", s.processes)
		t.Run("processor", s.processor)
		t.Run("nothing to leave by", s.nothingToLeaveBy)
		t.Run("more than the session", s.moreThanTheSession)
		s.alone(t)
		if err := unix.Kill(s.neighbour.PID, 0); err != nil {
			t.Errorf("the neighbour: %v", err)
		}
	})
}

func (s *shared) memory(t *testing.T) {
	own := sandbox.Limits{MemoryBytes: ownMemory}
	const hide = "rm -f done; (setsid sh -c \"(setsid $X hold private %s >done 2>&1 &)\" &)\nuntil grep -q survived done; do sleep 0.1; done 2>/dev/null"
	for name, script := range map[string]string{
		"private": "x hold private %s", "memfd": "x hold memfd %s", "segment": "x hold segment %s", "in another session, orphaned": hide,
		"two together": "x hold private $((%s / 2)) & x hold private $((%[1]s / 2)) & wait",
	} {
		r := s.say(t, own, fmt.Sprintf(script, "400")+"; echo end")
		refused := strings.Contains(r.text, "ENOMEM") // of a segment
		if r.status.Signal() != syscall.SIGKILL && !refused || strings.Contains(r.text, "end\n") && !refused || r.child.Killed() != record.StatusOOM && !refused {
			t.Errorf("%s: status %d, %q: %s", name, r.status, r.child.Killed(), r.text)
		}
		if d := r.child.Denials(); !refused && (len(d) != 1 || d[0].Kind != record.KindLimit || d[0].Remedy != "--memory 256M") {
			t.Errorf("%s: %+v", name, d)
		}
		s.alone(t)
		twin := s.say(t, own, fmt.Sprintf(script, "24")+"; echo end")
		if twin.status != 0 || !strings.HasSuffix(twin.text, "end\n") || twin.child.Killed() != "" || len(twin.child.Denials()) != 0 {
			t.Errorf("%s, below the limit: status %d, %q: %s", name, twin.status, twin.child.Killed(), twin.text)
		}
		used, by := twin.child.Evidence().Usage, map[bool]string{true: "cgroup", false: "watch"}[s.held()]
		if used.MeasuredBy != by || used.PeakMemoryBytes > ownMemory || s.held() && used.PeakMemoryBytes < 24<<20 {
			t.Errorf("%s, below the limit: %+v", name, used)
		}
		state := map[bool]string{true: "enforced", false: "degraded"}[s.held()]
		if c := r.control("cgroup"); c.State != state || !strings.HasPrefix(c.Requested, "memory 134217728 bytes of the command, within ") {
			t.Errorf("%s: %+v", name, c)
		}
		s.alone(t)
	}
}

// leftBehind: a process that outlives its command still has its limit, and the session goes on.
func (s *shared) leftBehind(t *testing.T) {
	own := sandbox.Limits{MemoryBytes: ownMemory}
	work := s.Plan().Workspace
	if r := s.say(t, own, "exec >/dev/null 2>&1; (sleep 0.3; x hold private 400 && touch survived) &"); r.status != 0 {
		t.Errorf("status %d: %s", r.status, r.text)
	}
	s.alone(t)
	if r := s.say(t, own, "exec >/dev/null 2>&1; (sleep 0.3; x hold private 24 && touch twin) &"); r.status != 0 {
		t.Errorf("status %d: %s", r.status, r.text)
	}
	s.alone(t)
	_, survived := os.Stat(filepath.Join(work, "survived"))
	if _, err := os.Stat(filepath.Join(work, "twin")); err != nil || !errors.Is(survived, os.ErrNotExist) {
		t.Errorf("below the limit: %v; above it: %v", err, survived)
	}
}

func (s *shared) processes(t *testing.T) {
	own := sandbox.Limits{Pids: 40}
	r := s.say(t, own, "x crowd 200; echo $?")
	if refused := strings.Contains(r.text, "EAGAIN"); strings.Contains(r.text, "survived") || !refused && r.status.Signal() != syscall.SIGKILL {
		t.Errorf("status %d: %s", r.status, r.text)
	}
	if d := r.child.Denials(); (s.held() || r.status.Signaled()) && (len(d) != 1 || d[0].Remedy != "--pids 80") {
		t.Errorf("%+v", d)
	}
	s.endOthers(t)
	if r := s.say(t, own, "x crowd 5"); r.status != 0 || r.text != "survived\n" {
		t.Errorf("below the limit: status %d: %s", r.status, r.text)
	}
	s.endOthers(t)
	if os.Geteuid() == 0 && !s.held() {
		return // nothing but the watch bounds a bomb of root's
	}
	child, _, err := s.spawn(own, "f() { f | f & }; f; f; exec sleep 10000")
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if r := s.say(t, sandbox.Limits{}, "echo up"); r.text != "up\n" {
			t.Errorf("beside a fork bomb: status %d: %s", r.status, r.text)
		}
	}
	child.Kill()
	if _, err := child.Wait(); err != nil {
		t.Error(err)
	}
	s.endOthers(t)
}

// endOthers ends everything but the neighbour.
func (s *shared) endOthers(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !slices.Equal(s.Processes(), []int{s.neighbour.PID}); time.Sleep(time.Millisecond) {
		for _, pid := range s.Processes() {
			if pid != s.neighbour.PID {
				unix.Kill(pid, unix.SIGKILL)
			}
		}
		if time.Now().After(end) {
			t.Fatalf("alive are %v", s.Processes())
		}
	}
}

func (s *shared) processor(t *testing.T) {
	r := s.say(t, sandbox.Limits{CPUPercent: 20}, "timeout 3 sh -c 'while :; do :; done'")
	if !s.held() {
		if r.child.Unheld() == "" || r.control("cgroup").State != "degraded" {
			t.Errorf("%q, %+v", r.child.Unheld(), r.control("cgroup"))
		}
		return
	}
	took := time.Since(r.child.Started).Seconds()
	if used := r.child.Evidence().Usage.CPUSeconds; r.child.Unheld() != "" || used > took/2 || used == 0 {
		t.Errorf("used %v of %v seconds with a limit of a fifth; %s", used, took, r.child.Unheld())
	}
}

// nothingToLeaveBy: neither of the ways is there by which a process becomes another command's.
func (s *shared) nothingToLeaveBy(t *testing.T) {
	for _, own := range []sandbox.Limits{{}, {MemoryBytes: ownMemory}} {
		r := s.say(t, own, "grep cgroup /proc/self/mounts; find / -xdev -name cgroup.procs 2>/dev/null; x sys clone3 z:88 88; cat /proc/self/cgroup; ls -l /proc/self/fd")
		if strings.Contains(r.text, "cgroup.procs") || strings.Contains(r.text, "cgroup2") || !strings.Contains(r.text, "ENOSYS") || strings.Contains(r.text, "-> /sys/fs/cgroup") {
			t.Error(r.text)
		}
		if s.held() {
			continue
		}
		unmark := strings.Repeat("00", 16)
		r = s.say(t, own, "x sys prlimit64 0 15 x:"+unmark+" 0; x sys prlimit64 0 15 0 z:16 && echo read; x sys prlimit64 0 0 x:"+strings.Repeat("ff", 16)+" 0 || :; echo end")
		if !strings.Contains(r.text, "EPERM") || !strings.Contains(r.text, "read\n") {
			t.Error(r.text)
		}
	}
}

func (s *shared) moreThanTheSession(t *testing.T) {
	for name, own := range map[string]sandbox.Limits{"--memory": {MemoryBytes: sessionMemory + 1}, "--pids": {Pids: 401}} {
		_, _, err := s.spawn(own, "echo > ran")
		if r := (*sandbox.Refusal)(nil); !errors.As(err, &r) || r.Code != sandbox.CodeDeclaration || !strings.HasPrefix(r.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	child, err := s.Spawn(context.Background(), sandbox.Command{Argv: []string{"true"}, Env: s.Plan().Env, Dir: s.Plan().Dir, Limits: sandbox.Limits{MemoryBytes: ownMemory}, MustCgroup: true})
	if r := (*sandbox.Refusal)(nil); !s.held() && (!errors.As(err, &r) || r.Code != sandbox.CodeRequire) || s.held() && err != nil {
		t.Errorf("where a cgroup must hold them: %v", err)
	}
	if err == nil {
		if status, err := child.Wait(); status != 0 || err != nil {
			t.Errorf("%d, %v", status, err)
		}
	}
	if r := s.say(t, sandbox.Limits{MemoryBytes: sessionMemory, Pids: 400}, "echo up"); r.text != "up\n" {
		t.Errorf("as much as the session: %+v", r)
	}
}

// TestSessionThousand: of a thousand commands neither a leaf nor a watch is left.
func TestSessionThousand(t *testing.T) {
	twice(t, func(t *testing.T) {
		s := startShared(t)
		t.Run("nothing is left", s.nothingIsLeft)
	})
}

func (s *shared) nothingIsLeft(t *testing.T) {
	before := runtime.NumGoroutine() + 1 // the session's own watch begins some time after its start
	for n := range shorttest.Sample(make([]int, 1000), 20) {
		child, err := s.Spawn(context.Background(), sandbox.Command{Argv: []string{"true"}, Env: s.Plan().Env, Dir: s.Plan().Dir, Limits: sandbox.Limits{MemoryBytes: ownMemory, Pids: 50}})
		if err != nil {
			t.Fatalf("command %d: %v", n, err)
		}
		if status, err := child.Wait(); status != 0 || err != nil {
			t.Fatalf("command %d: %d, %v", n, status, err)
		}
	}
	s.alone(t)
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		left := runtime.NumGoroutine() - before
		if s.held() {
			left += len(s.leaves(t)) - 1 // the neighbour's
		}
		if left <= 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d are left", left)
		}
	}
}

// TestSessionCgroupEnds: whoever dies, the session's cgroup goes with it.
func TestSessionCgroupEnds(t *testing.T) {
	twice(t, func(t *testing.T) {
		for name, kill := range map[string]func(*shared){
			"end": func(s *shared) { s.End() }, "init": func(s *shared) { unix.Kill(s.Init(), unix.SIGKILL) },
			"command": func(s *shared) { s.spawn(sandbox.Limits{}, "kill -9 -1") },
		} {
			t.Run(name, func(t *testing.T) {
				s := startShared(t)
				if _, _, err := s.spawn(sandbox.Limits{MemoryBytes: ownMemory}, "setsid sleep 10000 & sleep 10000"); err != nil {
					t.Fatal(err)
				}
				group := s.group()
				kill(s)
				if _, err := s.neighbour.Wait(); err == nil {
					t.Log("the neighbour ended by itself")
				}
				<-s.Done()
				if _, err := os.Stat(group); group != "" && !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s is left: %v", group, err)
				}
			})
		}
	})
}
