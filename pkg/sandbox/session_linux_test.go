package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/capability"
	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/kernel/landlock"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/statedir"
)

// session starts a session in a work space, and ends it with the test.
func session(t *testing.T, change func(*Spec)) (*Session, *Plan) {
	t.Helper()
	dir, environ := workspace(t)
	spec := Spec{Asked: capability.OnProfile(capability.AgentProfile), Argv: []string{"true"}, Dir: dir, Workspace: dir, Environ: environ, NewSession: true, CloseStdin: true}
	if change != nil {
		change(&spec)
	}
	p := mustBuild(t, spec)
	if made, err := MakeOwn(p); err != nil || !made {
		t.Fatal(made, err)
	}
	p = mustBuild(t, spec)
	s, err := Start(t.Context(), p, IO{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.End()
		if _, err := s.Wait(); err != nil {
			t.Error(err)
		}
	})
	return s, p
}

// TestOwnOnAFullDisk: a session that cannot create ethos's directory for lack of
// space says so, and not that somebody else owns the directory.
func TestOwnOnAFullDisk(t *testing.T) {
	probetest.Need(t, probetest.Root)
	dir, environ := workspace(t)
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=4k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	p := mustBuild(t, Spec{Asked: capability.OnProfile(capability.AgentProfile), Argv: []string{"true"}, Dir: dir, Workspace: dir, Environ: environ, NewSession: true})
	if err := os.WriteFile(filepath.Join(dir, "full"), make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	var refusal *Refusal
	if _, err := MakeOwn(p); !errors.As(err, &refusal) || !strings.Contains(refusal.Hint, "is full (df "+dir) {
		t.Errorf("%v, %+v", err, refusal)
	}
}

// say runs a script in a session and returns its status and what it printed.
func say(t *testing.T, s *Session, p *Plan, text string) (syscall.WaitStatus, string, error) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, err := s.Spawn(t.Context(), Command{Argv: []string{"sh", "-c", text}, Env: p.Env, Dir: p.Dir, Umask: 0o22, Streams: [3]*os.File{nil, w, w}})
	w.Close()
	if err != nil {
		return 0, "", err
	}
	out, _ := io.ReadAll(r)
	status, err := c.Wait()
	s.Prepare() // as a supervisor does
	return status, string(out), err
}

// TestSession: commands share processes, network and private files; each is confined as the command of a run is.
func TestSession(t *testing.T) {
	twice(t, func(t *testing.T) {
		s, p := session(t, nil)
		for _, c := range []struct{ script, output string }{
			{"id -u; pwd; umask; echo made > made", fmt.Sprintf("%d\n%s\n0022\n", os.Getuid(), p.Dir)},
			{"cat made; echo warm > /tmp/warm", "made\n"},
			{"cat /tmp/warm; grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status | tr -d ' 0\\t\\n'", "warm\nCapInh:CapPrm:CapEff:CapBnd:CapAmb:NoNewPrivs:1Seccomp:2"},
			{"exec >/dev/null 2>&1; sleep 1000 & echo $! > pid", ""},
			{"kill -0 $(cat pid) && kill $(cat pid) && echo killed", "killed\n"}, // one Landlock domain
			{"cat /proc/2/environ /proc/2/mem 2>/dev/null; cat /proc/2/fd/0 /proc/2/fd/4 2>/dev/null; readlink /proc/2/exe /proc/2/fd/4; echo shut", "shut\n"},
			{"kill -STOP 2; echo stopped", "stopped\n"},
			{"kill -STOP 1 2>/dev/null; echo on", "on\n"},
			{"echo > /etc/ethos-test; echo $?; rm made pid", ""},
		} {
			_, out, err := say(t, s, p, c.script+" 2>&1")
			if strings.Contains(c.script, "/etc/") {
				if !strings.Contains(out, "Read-only") && !strings.Contains(out, "denied") {
					t.Errorf("%s: %q", c.script, out)
				}
				continue
			}
			if err != nil || out != c.output {
				t.Errorf("%s: %q, %v", c.script, out, err)
			}
		}
		for text, want := range map[string]syscall.WaitStatus{"exit 7": 7 << 8, "kill -SEGV $$": 11} {
			if status, _, err := say(t, s, p, text); err != nil || status != want {
				t.Errorf("%s: %d, %v", text, status, err)
			}
		}
		for end := time.Now().Add(time.Minute); len(s.Processes()) != 0; time.Sleep(time.Millisecond) { // what was killed takes its time
			if time.Now().After(end) {
				t.Fatalf("alive: %v", s.Processes())
			}
		}
		if e := s.Evidence(); len(e.Controls) == 0 || !strings.HasPrefix(line(e, "seccomp").State, control.Enforced) {
			t.Errorf("%+v", e)
		}
	})
}

func line(e record.Sandbox, name string) record.Control {
	for _, c := range e.Controls {
		if c.Name == name {
			return c
		}
	}
	return record.Control{}
}

// freePort is one of the host's loopback that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// TestSessionNetwork: a server of one command is reached by the next; another session sees nothing of it.
func TestSessionNetwork(t *testing.T) {
	probetest.Need(t, "command:python3")
	twice(t, func(t *testing.T) {
		loopback := func(s *Spec) { s.Network = record.Network{Mode: "loopback"} }
		one, p := session(t, loopback)
		other, q := session(t, loopback)
		serve := "exec >/dev/null 2>&1; python3 -c 'import socket; s=socket.create_server((\"127.0.0.1\",8123)); open(\"up\",\"w\");\nwhile 1: c=s.accept()[0]; c.sendall(b\"hello\\n\"); c.close()' & while ! test -e up; do sleep 0.01; done"
		ask := "python3 -c 'import socket; print(socket.create_connection((\"127.0.0.1\",8123)).recv(9).decode(),end=\"\")' 2>/dev/null; readlink /proc/self/ns/net"
		if _, out, err := say(t, one, p, serve); err != nil {
			t.Fatalf("%q, %v", out, err)
		}
		published, err := one.Publish(fmt.Sprint(freePort(t), ":8123"), false)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 * 64 { // more than there are sockets
			conn, err := net.Dial("tcp", published.Host.String())
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(conn)
			conn.Close()
			if err != nil || string(text) != "hello\n" {
				t.Fatalf("%q, %v", text, err)
			}
		}
		for _, text := range []string{"0.0.0.0:8200:8123", "x", "80:80", published.Host.String() + ":8123"} {
			if _, err := one.Publish(text, false); err == nil {
				t.Errorf("%s was published", text)
			}
		}
		_, first, err := say(t, one, p, ask)
		_, second, err2 := say(t, other, q, ask)
		if err := errors.Join(err, err2); err != nil || !strings.HasPrefix(first, "hello\nnet:") || strings.Contains(second, "hello") || strings.TrimPrefix(first, "hello\n") == second {
			t.Errorf("%q, %q, %v", first, second, err)
		}
	})
}

// TestSessionTerminal: a command with a terminal of its own.
func TestSessionTerminal(t *testing.T) {
	twice(t, func(t *testing.T) {
		s, p := session(t, nil)
		c, err := s.Spawn(t.Context(), Command{Argv: []string{"sh", "-c", "tty; stty size; read x; echo got $x; exec 3<>/dev/tty && echo controls"}, Env: p.Env, Dir: p.Dir, Terminal: true, Rows: 33, Cols: 77})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Terminal.Close()
		if _, err := c.Terminal.WriteString("typed\n"); err != nil {
			t.Error(err)
		}
		status, err := c.Wait()
		text, _ := io.ReadAll(c.Terminal) // EIO ends it: nobody has the other end any more
		if out := string(text); err != nil || status != 0 || !strings.Contains(out, "/dev/pts/0\r\n") || !strings.Contains(out, "33 77\r\n") || !strings.Contains(out, "got typed\r\ncontrols\r\n") {
			t.Errorf("%d, %q, %v", status, out, err)
		}
	})
}

// TestSessionRefusals: what does not start says why, and harms nothing.
func TestSessionRefusals(t *testing.T) {
	s, p := session(t, nil)
	for name, want := range map[string]string{"no-such-command": CodeNotFound, "/no/such": CodeNotFound, "./sub/such": CodeNotFound, "/etc/passwd": CodeNotExec} {
		c, err := s.Spawn(t.Context(), Command{Argv: []string{name}, Env: p.Env, Dir: p.Dir})
		if err == nil {
			_, err = c.Wait()
		}
		if r := (*Refusal)(nil); !errors.As(err, &r) || r.Code != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		} else if want == CodeNotFound && !strings.HasPrefix(r.Error(), name+": ") {
			t.Errorf("%s: %v, which does not name it as it was given", name, r)
		}
	}
	if _, err := s.Spawn(t.Context(), Command{Argv: []string{"true"}, Env: p.Env, Dir: "/root/nowhere"}); err == nil || !strings.Contains(err.Error(), "/root/nowhere") {
		t.Error(err)
	}
	dir, err := os.Open("/etc")
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if _, err := s.Spawn(t.Context(), Command{Argv: []string{"true"}, Env: p.Env, Dir: p.Dir, Streams: [3]*os.File{dir}}); err == nil {
		t.Error("a directory as a stream")
	}
	if _, out, err := say(t, s, p, "echo on"); out != "on\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// TestSessionKill: a command and all that descends from it dies, and nothing else.
func TestSessionKill(t *testing.T) {
	s, p := session(t, nil)
	if _, _, err := say(t, s, p, "exec >/dev/null 2>&1; sleep 1000 &"); err != nil {
		t.Fatal(err)
	}
	c, err := s.Spawn(t.Context(), Command{Argv: []string{"sh", "-c", "trap '' TERM; setsid sh -c 'sleep 1000; :' & sleep 1000; :"}, Env: p.Env, Dir: p.Dir})
	if err != nil {
		t.Fatal(err)
	}
	for len(s.Processes()) < 5 {
		time.Sleep(time.Millisecond)
	}
	if err := c.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	c.Kill()
	if status, err := c.Wait(); err != nil || status.Signal() != syscall.SIGKILL {
		t.Errorf("%v, %v", status, err)
	}
	for end := time.Now().Add(time.Minute); len(s.Processes()) != 1; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("alive: %v", s.Processes())
		}
	}
	if err := c.Signal(syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
}

// TestSessionEnds: whoever dies, nothing is left and nobody waits for ever.
func TestSessionEnds(t *testing.T) {
	for name, end := range map[string]func(*Session){
		"end":     (*Session).End,
		"init":    func(s *Session) { unix.Kill(s.Init(), unix.SIGKILL) },
		"spawner": func(s *Session) { say(t, s, s.Plan(), "kill -9 2") },
		"all":     func(s *Session) { say(t, s, s.Plan(), "kill -9 -1") },
	} {
		t.Run(name, func(t *testing.T) {
			dir, environ := workspace(t)
			p := mustBuild(t, Spec{Asked: capability.OnProfile(capability.AgentProfile), Argv: []string{"true"}, Dir: dir, Workspace: dir, Environ: environ, NewSession: true, CloseStdin: true})
			s, err := Start(t.Context(), p, IO{})
			if err != nil {
				t.Fatal(err)
			}
			c, err := s.Spawn(t.Context(), Command{Argv: []string{"sleep", "1000"}, Env: p.Env, Dir: p.Dir})
			if err != nil {
				t.Fatal(err)
			}
			alive := append(s.Processes(), s.Init())
			end(s)
			if status, err := c.Wait(); err == nil && status.Signal() != syscall.SIGKILL {
				t.Errorf("the command: %v, %v", status, err)
			}
			out, err := s.Wait()
			t.Logf("%s %d %s, %v", out.Status, out.ExitCode, out.Evidence.Reason, err)
			for _, pid := range alive {
				if err := unix.Kill(pid, 0); err == nil {
					t.Errorf("process %d is alive", pid)
				}
			}
			if _, err := s.Spawn(t.Context(), Command{Argv: []string{"true"}, Env: p.Env, Dir: p.Dir}); err == nil {
				t.Error("a command ran after the end")
			}
			if left := names(t, dir); len(left) != 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	mustRun(t, exec.Command("git", append([]string{"-C", dir}, args...)...))
}

// TestSessionLeftovers: what a command leaves for git is put aside after it; what a person changes between commands stays; what a person does beside a background process is the command's.
func TestSessionLeftovers(t *testing.T) {
	probetest.Need(t, "command:git")
	twice(t, func(t *testing.T) {
		s, p := session(t, func(spec *Spec) { git(t, spec.Dir, "init", "-q") })
		config := filepath.Join(p.Dir, "sub/.git/config")
		hook := filepath.Join(p.Dir, "sub/.git/hooks/post-checkout")
		if _, out, err := say(t, s, p, "git init -q sub && printf '#!/bin/sh\\necho evil\\n' > sub/.git/hooks/post-checkout && chmod +x sub/.git/hooks/post-checkout; echo $?"); err != nil || out != "0\n" {
			t.Fatalf("%q, %v", out, err)
		}
		found := s.Look(t.Context())
		if _, err := os.Stat(hook); !errors.Is(err, os.ErrNotExist) || len(found) == 0 {
			t.Errorf("%v, %+v", err, found)
		}
		git(t, filepath.Join(p.Dir, "sub"), "config", "core.fsmonitor", "person") // a person, while nothing is alive inside
		if _, _, err := say(t, s, p, "true"); err != nil {
			t.Fatal(err)
		}
		found = s.Look(t.Context())
		if text, err := os.ReadFile(config); err != nil || !strings.Contains(string(text), "person") || len(found) != 0 {
			t.Errorf("%s, %v, %+v", text, err, found)
		}
		if _, _, err := say(t, s, p, "exec >/dev/null 2>&1; (sleep 0.2; printf '[core]\\n\\tfsmonitor = evil\\n' > sub/.git/config; echo > done; sleep 1000) &"); err != nil {
			t.Fatal(err)
		}
		early := s.Look(t.Context()) // on a slow machine it has been written by now
		for {
			if _, err := os.Stat(filepath.Join(p.Dir, "done")); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if _, _, err := say(t, s, p, "true"); err != nil {
			t.Fatal(err)
		}
		found = append(early, s.Look(t.Context())...)
		if text, _ := os.ReadFile(config); strings.Contains(string(text), "evil") || len(found) == 0 {
			t.Errorf("%s, %+v", text, found)
		}
	})
}

// TestSessionFailedStart: after a command that could not start, nothing is alive inside, and what a
// person changes stays.
func TestSessionFailedStart(t *testing.T) {
	probetest.Need(t, "command:git")
	s, p := session(t, func(spec *Spec) { git(t, spec.Dir, "init", "-q") })
	if _, _, err := say(t, s, p, "git init -q sub"); err != nil {
		t.Fatal(err)
	}
	s.Look(t.Context())
	for name, c := range map[string]Command{
		"directory": {Argv: []string{"true"}, Env: p.Env, Dir: filepath.Join(p.Dir, "none")},
		"too large": {Argv: []string{"true", strings.Repeat("x", 9<<20)}, Env: p.Env, Dir: p.Dir},
	} {
		if _, err := s.Spawn(t.Context(), c); err == nil {
			t.Fatalf("%s: it ran", name)
		}
		git(t, filepath.Join(p.Dir, "sub"), "config", "core.fsmonitor", name)
		if _, _, err := say(t, s, p, "true"); err != nil {
			t.Fatal(err)
		}
		found := s.Look(t.Context())
		if text, err := os.ReadFile(filepath.Join(p.Dir, "sub/.git/config")); err != nil || !strings.Contains(string(text), name) || len(found) != 0 {
			t.Errorf("%s: %s, %v, %+v", name, text, err, found)
		}
	}
}

// TestSessionStale: where the person has made a protected name since the last
// command, the next one does not run, although it was being made ready meanwhile,
// and the session ends. The twin is a name that means nothing.
func TestSessionStale(t *testing.T) {
	probetest.Need(t, "command:git")
	for name, stale := range map[string]bool{".mcp.json": true, "notes.json": false} {
		t.Run(name, func(t *testing.T) {
			s, p := session(t, func(spec *Spec) { git(t, spec.Dir, "init", "-q") })
			if _, _, err := say(t, s, p, "true"); err != nil {
				t.Fatal(err)
			}
			s.Look(t.Context())
			write(t, filepath.Join(p.Dir, name), "{}\n")
			_, _, err := say(t, s, p, "echo > ran")
			var refusal *Refusal
			if told := errors.As(err, &refusal) && refusal.Code == CodeStale; told != stale {
				t.Errorf("%v, want stale: %v", err, stale)
			}
			if stale {
				<-s.Done()
			}
			if _, err := os.Stat(filepath.Join(p.Dir, "ran")); errors.Is(err, os.ErrNotExist) != stale {
				t.Errorf("ran: %v", err)
			}
			if text, err := os.ReadFile(filepath.Join(p.Dir, name)); string(text) != "{}\n" {
				t.Errorf("the person's file: %q, %v", text, err)
			}
		})
	}
}

// TestSessionEarlySignal: a signal for a command that still is the waiting process reaches the command.
func TestSessionEarlySignal(t *testing.T) {
	s, p := session(t, nil)
	for range 20 {
		if _, _, err := say(t, s, p, "true"); err != nil {
			t.Fatal(err)
		}
		spare := s.Spare()
		c, err := s.SpawnFrom(t.Context(), func() (Command, error) {
			if spare > 0 {
				unix.Kill(spare, unix.SIGSTOP) // the spare is used if its stop is not known yet
			}
			return Command{Argv: []string{"sleep", "3"}, Env: p.Env, Dir: p.Dir}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		sent := make(chan error, 1)
		go func() { sent <- c.Signal(syscall.SIGTERM) }()
		time.Sleep(5 * time.Millisecond)
		if spare > 0 {
			unix.Kill(spare, unix.SIGCONT)
		}
		if status, err := c.Wait(); err != nil || status.Signal() != syscall.SIGTERM {
			t.Errorf("%v, %v", status, err)
		}
		if err := <-sent; err != nil {
			t.Error(err)
		}
		s.Look(t.Context())
	}
}

// TestSessionSpareLowered: a command does not begin in a waiting process whose resource limits were lowered after it was verified.
func TestSessionSpareLowered(t *testing.T) {
	s, p := session(t, nil)
	for _, lowered := range []bool{false, true} {
		s.Prepare()
		if _, _, err := say(t, s, p, "true"); err != nil { // says whether commands have spares here
			t.Fatal(err)
		}
		spare := s.Spare()
		if spare == 0 {
			return // each command has a cgroup of its own, and is cloned into it
		}
		if lowered {
			if err := unix.Prlimit(spare, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 100, Max: 100}, nil); err != nil {
				t.Fatal(err)
			}
		}
		_, _, err := say(t, s, p, "echo > ran")
		var r *Refusal
		if refused := errors.As(err, &r); refused != lowered {
			t.Errorf("lowered %v: %v", lowered, err)
		}
		if _, err := os.Stat(filepath.Join(p.Dir, "ran")); (err == nil) == lowered {
			t.Errorf("lowered %v: %v", lowered, err)
		}
		os.Remove(filepath.Join(p.Dir, "ran"))
	}
}

// TestSessionWatch: where no cgroup limits memory, the watch rests while nothing is alive inside, and goes on with the next command.
func TestSessionWatch(t *testing.T) {
	s, p := session(t, func(spec *Spec) { spec.MemoryBytes = 100 << 20 })
	if line(s.Evidence(), "cgroup").State == control.Enforced {
		return // there is no watch
	}
	for range 2 {
		if _, _, err := say(t, s, p, "true"); err != nil {
			t.Fatal(err)
		}
		s.Look(t.Context())
		time.Sleep(300 * time.Millisecond)
	}
	if status, _, err := say(t, s, p, "for i in 1 2 3 4; do head -c 60M /dev/zero | tail -c 60M | sleep 1000 & done; wait"); err == nil && !status.Signaled() {
		t.Errorf("%v", status)
	}
	if out, err := s.Wait(); err != nil || out.Status != record.StatusOOM {
		t.Errorf("%s, %v", out.Status, err)
	}
}

// TestSessionExpect: what is recorded because a command is expected serves that command, and none that comes later; until one comes, no journal tells of it.
func TestSessionExpect(t *testing.T) {
	probetest.Need(t, "command:git")
	s, p := session(t, nil)
	run := func(script string) []record.Denial {
		t.Helper()
		if _, out, err := say(t, s, p, script); err != nil || out != "" {
			t.Fatalf("%s: %q, %v", script, out, err)
		}
		defer s.Prepare()
		return s.Look(t.Context())
	}
	journals := func() (names []os.DirEntry) {
		dir, err := statedir.Open(p.Getenv, "runs")
		if err == nil {
			names, err = os.ReadDir(dir)
		}
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	const evil = `git init -q %[1]s 2>&1; git -C %[1]s config core.fsmonitor ./evil`
	run("true")
	s.Expect(t.Context())
	if list := journals(); len(list) != 0 {
		t.Errorf("%d journals", len(list))
	}
	time.Sleep(50 * time.Millisecond)
	git(t, p.Dir, "init", "-q", "person")
	git(t, filepath.Join(p.Dir, "person"), "config", "core.fsmonitor", "./mine")
	if found := run("true"); len(found) != 0 {
		t.Errorf("what the person did long after: %+v", found)
	}
	s.Expect(t.Context())
	s.Expect(t.Context())
	if found := run(fmt.Sprintf(evil, "first")); len(found) != 1 {
		t.Errorf("what the expected command did: %+v", found)
	}
	s.Expect(t.Context())
	time.Sleep(50 * time.Millisecond)
	if found := run(fmt.Sprintf(evil, "second")); len(found) != 1 {
		t.Errorf("what a later command did: %+v", found)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 20 {
				s.Expect(t.Context())
			}
		})
	}
	for n := range 5 {
		if found := run(fmt.Sprintf(evil, fmt.Sprint("repo", n))); len(found) != 1 {
			t.Errorf("what a command did while others were expected: %+v", found)
		}
	}
	all.Wait()
	if text, err := os.ReadFile(filepath.Join(p.Dir, "person/.git/config")); !strings.Contains(string(text), "./mine") {
		t.Errorf("the person's: %s, %v", text, err)
	}
}

// TestSessionHopping: a process that forks and ends again and again is alive between commands, whoever looks when: what it leaves is not the person's.
func TestSessionHopping(t *testing.T) {
	probetest.Need(t, "command:git")
	s, p := session(t, nil)
	write(t, filepath.Join(p.Dir, "hop"), "test -e stop || { sh hop & exit; }\ngit init -q other; printf '[core]\\n\\tfsmonitor = evil\\n' > other/.git/config; touch done\n")
	if _, _, err := say(t, s, p, "exec >/dev/null 2>&1; sh hop & :"); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		s.Look(t.Context())
	}
	write(t, filepath.Join(p.Dir, "stop"), "")
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(filepath.Join(p.Dir, "done")); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it does not stop")
		}
	}
	if _, _, err := say(t, s, p, "true"); err != nil {
		t.Fatal(err)
	}
	found := s.Look(t.Context())
	if text, _ := os.ReadFile(filepath.Join(p.Dir, "other/.git/config")); strings.Contains(string(text), "evil") || len(found) == 0 {
		t.Errorf("%s, %+v", text, found)
	}
}

// TestSessionAtOnce: many commands at once, and many one after another, leave nothing open.
func TestSessionAtOnce(t *testing.T) {
	s, p := session(t, nil)
	var all sync.WaitGroup
	for n := range 64 {
		all.Go(func() {
			c, err := s.Spawn(context.Background(), Command{Argv: []string{"sh", "-c", fmt.Sprint("exit ", n)}, Env: p.Env, Dir: p.Dir})
			if err != nil {
				t.Error(err)
				return
			}
			if status, err := c.Wait(); err != nil || status.ExitStatus() != n {
				t.Errorf("%d: %v, %v", n, status, err)
			}
		})
	}
	all.Wait()
	s.Prepare()
	open := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before := open()
	for range 300 {
		if _, out, err := say(t, s, p, "echo x"); err != nil || out != "x\n" {
			t.Fatalf("%q, %v", out, err)
		}
	}
	// The cgroup of a command is closed after Wait has returned, when nothing in it is alive.
	after := open()
	for end := time.Now().Add(time.Minute); after > before && time.Now().Before(end); after = open() {
		time.Sleep(time.Millisecond)
	}
	if after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// TestSessionFaults makes each kernel call of a command's set-up fail in turn: the command does not run, and the session goes on.
func TestSessionFaults(t *testing.T) {
	s, p := session(t, nil)
	marker := filepath.Join(p.Dir, "marker")
	command := Command{Argv: []string{"/bin/sh", "-c", "echo ran > marker"}, Env: p.Env, Dir: p.Dir, Terminal: true, Streams: [3]*os.File{}}
	narrower := Narrow{NoNetwork: true}
	if kernel, err := landlock.Probe(); err == nil && kernel.ABI >= 3 {
		narrower.DenyWrite = []string{"/usr"}
	}
	for _, narrow := range []Narrow{{}, narrower} {
		command.Narrow = narrow
		failEachCall(t, s, command, marker, 15)
	}
	plain := command
	plain.Narrow, plain.Terminal = Narrow{}, false
	failEachCall(t, s, plain, marker, 10)
	s.Tamper = func(list []steps.Step) {
		for i := range list {
			if list[i].Nr == unix.SYS_SECCOMP {
				list[i].Nr = unix.SYS_GETPID
			}
		}
	}
	var r *Refusal
	if _, err := s.Spawn(t.Context(), command); !errors.As(err, &r) || r.Code != CodeVerify {
		t.Errorf("without its filter a narrowed command is refused as %v", err)
	}
	s.Tamper = nil
	if _, out, err := say(t, s, p, "echo on"); out != "on\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// failEachCall makes each kernel call of a command's set-up fail.
func failEachCall(t *testing.T, s *Session, command Command, marker string, least int) {
	t.Helper()
	calls := 0
	for i := 0; i == 0 || i < calls; i++ {
		s.Tamper = func(list []steps.Step) {
			calls = len(list) - 1 // without the execve
			list[i].Nr, list[i].Tolerate, list[i].Ignore = 9999, nil, nil
		}
		s.Prepare()
		c, err := s.Spawn(t.Context(), command)
		if err == nil {
			_, err = c.Wait()
			if c.Terminal != nil {
				c.Terminal.Close()
			}
		}
		var r *Refusal
		if !errors.As(err, &r) {
			t.Errorf("call %d: %v", i, err)
		}
		if _, err := os.Stat(marker); err == nil {
			t.Fatalf("call %d failed and the command ran", i)
		}
	}
	if calls < least {
		t.Errorf("%d calls", calls)
	}
}

// TestRunBesideRun: what a run holds the place of in a repository that another has just made is no finding of the other.
func TestRunBesideRun(t *testing.T) {
	probetest.Need(t, "command:git")
	twice(t, func(t *testing.T) {
		first := script(t, "git init -q sub; touch ready; while ! test -e go; do sleep 0.01; done")
		plan := mustBuild(t, first)
		done := make(chan result, 1)
		go func() {
			out, got, err := RunCaptured(context.Background(), plan, nil)
			done <- result{out, got, err}
		}()
		for {
			if _, err := os.Stat(filepath.Join(first.Dir, "ready")); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		second := first
		second.Argv = []string{"sh", "-c", "touch go; while ! test -e end; do sleep 0.01; done"}
		beside := mustBuild(t, second)
		other := make(chan result, 1)
		go func() {
			out, got, err := RunCaptured(context.Background(), beside, nil)
			other <- result{out, got, err}
		}()
		if r := <-done; r.err != nil || r.Status != record.StatusExited || len(r.Evidence.Denials) != 0 {
			t.Errorf("%v, %s, %+v", r.err, r.Status, r.Evidence.Denials)
		}
		write(t, filepath.Join(first.Dir, "end"), "")
		if r := <-other; r.err != nil || r.Status != record.StatusExited || len(r.Evidence.Denials) != 0 {
			t.Errorf("%v, %s, %+v", r.err, r.Status, r.Evidence.Denials)
		}
	})
}
