package boundary

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/session"
)

// lodge is a session and the work space that it is for.
type lodge struct {
	t   *testing.T
	dir string
}

// lodged starts a session "w"; nothing of it is left when the test ends.
func lodged(t *testing.T, flags ...string) *lodge {
	t.Helper()
	probetest.Need(t, probetest.UserNS)
	l := &lodge{t, space(t)}
	l.start(flags...)
	t.Cleanup(func() {
		before := l.inside()
		l.must("session", "end", "--all")
		l.empty(before)
	})
	return l
}

func (l *lodge) start(flags ...string) {
	l.t.Helper()
	if out := l.must(append([]string{"session", "start", "--name", "w", "--plain-git"}, flags...)...); out != "w\n" {
		l.t.Fatalf("start printed %q", out)
	}
}

// must runs ethos-sandbox, which has to succeed, and returns what it prints.
func (l *lodge) must(args ...string) string {
	l.t.Helper()
	out, errs, status := l.does("", args...)
	if status != 0 {
		l.t.Fatalf("%q: status %d\n%s%s", args, status, out, errs)
	}
	return out
}

// does runs ethos-sandbox with text as its standard input.
func (l *lodge) does(input string, args ...string) (out, errs string, status int) {
	l.t.Helper()
	cmd := sandboxed(l.t, l.dir, args...)
	var o, e bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &o, &e
	status = l.wait(cmd)
	return o.String(), e.String(), status
}

// wait runs a program to its end, as a shell sees it.
func (l *lodge) wait(cmd *exec.Cmd) int {
	l.t.Helper()
	if cmd.Process == nil {
		if err := cmd.Start(); err != nil {
			l.t.Fatal(err)
		}
	}
	hung := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	if !hung.Stop() {
		l.t.Fatalf("%q hangs", cmd.Args[1:])
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status := exit.Sys().(syscall.WaitStatus); status.Signaled() {
			return 128 + int(status.Signal())
		}
		return exit.ExitCode()
	}
	if err != nil {
		l.t.Fatal(err)
	}
	return 0
}

// sh runs a script in the session.
func (l *lodge) sh(script string) (out, errs string, status int) {
	l.t.Helper()
	return l.does("", "run", "--session", "w", "--", "sh", "-c", script)
}

func (l *lodge) status() (s session.Status) {
	l.t.Helper()
	var all []session.Status
	if err := json.Unmarshal([]byte(l.must("session", "list", "--json")), &all); err != nil {
		l.t.Fatal(err)
	}
	if len(all) == 1 {
		return all[0]
	}
	return s
}

// inside are the supervisor and all that lives below it.
func (l *lodge) inside() (pids []int) {
	s := l.status()
	if s.PID == 0 {
		return nil
	}
	return append(below(s.PID), s.PID)
}

// below are the processes that descend from one.
func below(pid int) (pids []int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		more, _ := os.ReadFile(task) // its thread may have ended
		text = append(append(text, ' '), more...)
	}
	for _, field := range strings.Fields(string(text)) {
		child, err := strconv.Atoi(field)
		if err == nil && !slices.Contains(pids, child) {
			pids = append(append(pids, child), below(child)...)
		}
	}
	return pids
}

// keepers are the two processes that keep the boundary of a supervisor: init, and
// the one that starts commands. It has other children, too.
func (l *lodge) keepers(supervisor int) []int {
	l.t.Helper()
	for _, pid := range below(supervisor) {
		if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil && string(name) == "ethos-init\n" {
			if children := below(pid); len(children) > 0 {
				return []int{pid, children[0]}
			}
		}
	}
	l.t.Fatal("there is no init with a child")
	return nil
}

// empty waits until the processes are gone, and fails for whatever else is left.
func (l *lodge) empty(pids []int) {
	l.t.Helper()
	l.until("processes are left", func() bool {
		return !slices.ContainsFunc(pids, func(pid int) bool { return !ended(pid) })
	})
	// A process that was killed may hold its lock for a moment after it is a zombie. Each look removes what is free.
	l.until("of the session is left a lock or a socket", func() bool {
		if out := l.must("session", "list", "--json"); out != "[]\n" {
			l.t.Fatalf("the list has %s", out)
		}
		return len(l.used()) == 0
	})
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || strings.Contains(string(mounts), l.dir) {
		l.t.Errorf("mounts are left: %v", err)
	}
}

func (l *lodge) sockets() string {
	return filepath.Join(filepath.Dir(l.dir), "home/.local/state/ethos/sessions")
}

// used lists the sockets and locks. It leaves out why sessions have ended.
func (l *lodge) used() []string {
	return slices.DeleteFunc(readDir(l.sockets()), func(name string) bool { return strings.HasSuffix(name, ".ended") })
}

func (l *lodge) until(otherwise string, done func() bool) {
	l.t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			l.t.Fatal(otherwise)
		}
	}
}

// TestSessionIsOneBoundary: what one command leaves, the next finds: processes,
// files of /tmp, the network. Another session finds nothing of it.
func TestSessionIsOneBoundary(t *testing.T) {
	probetest.Need(t, "command:python3", "command:bash")
	l := lodged(t)
	const serve = `cd /tmp && echo page > f && { python3 -m http.server 5173 --bind 127.0.0.1 >/dev/null 2>&1 & }
		i=0; until bash -c ": < /dev/tcp/127.0.0.1/5173" 2>/dev/null || [ $i -gt 300 ]; do i=$((i+1)); sleep 0.1; done; echo up`
	const get = `exec 3<>/dev/tcp/127.0.0.1/5173 && printf 'GET /f HTTP/1.0\r\n\r\n' >&3 && cat <&3`
	if out, errs, status := l.sh(serve); out != "up\n" || status != 0 {
		t.Fatalf("%q %q %d", out, errs, status)
	}
	out, errs, status := l.does("", "run", "--session", "w", "--", "bash", "-c", get)
	if !strings.HasSuffix(out, "\r\n\r\npage\n") || status != 0 {
		t.Errorf("the next command gets %q %q %d", out, errs, status)
	}
	if out, _, status := l.sh("cat /tmp/f; kill -0 $(pgrep -f http.server) && echo alive"); out != "page\nalive\n" || status != 0 {
		t.Errorf("the next command sees %q", out)
	}
	if s := l.status(); len(s.Processes) != 1 || !strings.Contains(s.Processes[0].Line, "http.server") || s.Workspace != l.dir {
		t.Errorf("the list has %+v", s)
	}
	if shown := l.must("session", "show", "w"); !strings.Contains(shown, "http.server 5173") || !strings.Contains(shown, "\nnetwork      loopback\n") {
		t.Errorf("it is shown as %s", shown)
	}
	l.must("session", "start", "--name", "other", "--plain-git")
	if _, _, status := l.does("", "run", "--session", "other", "--", "bash", "-c", get+"; cat /tmp/f"); status == 0 {
		t.Error("another session reaches the server or the file")
	}
	l.must("session", "end", "other")
	namespaces := func(name string) string {
		return l.must("run", "--session", name, "--", "sh", "-c", "readlink /proc/self/ns/*")
	}
	if first, second := namespaces("w"), namespaces("w"); first != second {
		t.Error("two commands of a session have different namespaces")
	}
}

// TestSessionStatuses are those of run.
func TestSessionStatuses(t *testing.T) {
	l := lodged(t)
	if err := os.Mkdir(filepath.Join(l.dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	for script, want := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -9 $$": 137, "kill -TERM $$": 143, "exec nosuch": 127} {
		if _, errs, status := l.sh(script); status != want {
			t.Errorf("%s: %d %s", script, status, errs)
		}
	}
	for name, c := range map[string]struct {
		args   []string
		status int
		says   string
	}{
		"not found":      {[]string{"run", "--session", "w", "--", "nosuch"}, 127, "nosuch"},
		"not executable": {[]string{"run", "--session", "w", "--", "/etc/passwd"}, 126, "permission denied"},
		"time limit":     {[]string{"run", "--session", "w", "--timeout", "200ms", "--", "sleep", "100"}, 124, "time limit of 200ms"},
		"no session":     {[]string{"run", "--session", "x", "--", "touch", "ran"}, 125, "session x is not running"},
		"no name":        {[]string{"run", "--session", "a/b", "--", "touch", "ran"}, 125, "is not a valid session name"},
		"more than it":   {[]string{"run", "--session", "w", "--rw", "/srv", "--", "touch", "ran"}, 125, "does not have"},
		"its network":    {[]string{"run", "--session", "w", "--net", "host", "--", "touch", "ran"}, 125, "does not have"},
		"managed git":    {[]string{"shell", "--session", "w", "-c", "touch ran"}, 125, "plain git"},
		"another plan":   {[]string{"session", "start", "--name", "w", "--plain-git", "--net", "none"}, 125, "does not have"},
		"the same plan":  {[]string{"session", "start", "--name", "w", "--plain-git"}, 0, ""},
		"below":          {[]string{"run", "--session", "w", "--", "sh", "-c", "test -d a"}, 0, ""},
		"a shell":        {[]string{"shell", "--session", "w", "--plain-git", "-c", "exit 3"}, 3, ""},
		"same flags":     {[]string{"run", "--session", "w", "--net", "loopback", "--env", "A=b", "--", "sh", "-c", "test $A = b"}, 0, ""},
		"too many words": {[]string{"run", "--session", "w", "--", "true", strings.Repeat("x", 100_000), strings.Repeat("y", 100_000)}, 0, ""},
		"no such one":    {[]string{"session", "end", "x"}, 125, "is not running"},
		"plan unbound":   {[]string{"session", "start", "--name", "y", "--plain-git", "--rw", "/proc"}, 125, "hint"},
	} {
		out, errs, status := l.does("", c.args...)
		if status != c.status || !strings.Contains(errs, c.says) {
			t.Errorf("%s: status %d\n%s%s", name, status, out, errs)
		}
	}
	for _, dir := range []string{filepath.Join(l.dir, "a"), filepath.Join(filepath.Dir(l.dir), "home")} {
		cmd := sandboxed(t, l.dir, "run", "--session", "w", "--net", "loopback", "--", "pwd")
		cmd.Dir = dir
		var out bytes.Buffer
		cmd.Stdout = &out
		if status := l.wait(cmd); status != 0 || out.String() != dir+"\n" {
			t.Errorf("in %s: %d %q", dir, status, out.String())
		}
	}
	outside := sandboxed(t, l.dir, "run", "--session", "w", "--", "touch", "ran")
	outside.Dir = "/"
	if status := l.wait(outside); status != 125 {
		t.Errorf("in a directory that the session does not see: %d", status)
	}
	if _, err := os.Stat(filepath.Join(l.dir, "ran")); err == nil {
		t.Error("a command that was refused ran")
	}
}

// TestSessionStreams: what is written arrives whole and in order, whoever reads;
// who stops reading ends the writer.
func TestSessionStreams(t *testing.T) {
	l := lodged(t)
	if out, errs, _ := l.sh("echo out; echo err >&2; printf 'a\\000\\377'"); out != "out\na\x00\xff" || errs != "err\n" {
		t.Errorf("%q %q", out, errs)
	}
	if out, _, status := l.does(strings.Repeat("line\n", 100_000), "run", "--session", "w", "--", "wc", "-l"); out != "100000\n" || status != 0 {
		t.Errorf("standard input: %q %d", out, status)
	}
	const size = 50_000_000
	cmd := sandboxed(t, l.dir, "run", "--session", "w", "--", "head", "-c", strconv.Itoa(size), "/dev/zero")
	sum := sha256.New()
	cmd.Stdout = sum
	if status := l.wait(cmd); status != 0 || [32]byte(sum.Sum(nil)) != sha256.Sum256(make([]byte, size)) {
		t.Errorf("much output: status %d, or other bytes", status)
	}
	both := sandboxed(t, l.dir, "run", "--session", "w", "--", "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do echo $i; echo $i >&2; done")
	var joined bytes.Buffer
	both.Stdout, both.Stderr = &joined, &joined // one pipe
	if l.wait(both); joined.String() != "1\n1\n2\n2\n3\n3\n4\n4\n5\n5\n6\n6\n7\n7\n8\n8\n9\n9\n" {
		t.Errorf("one pipe for both: %q", joined.String())
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	toFile := sandboxed(t, l.dir, "run", "--session", "w", "--", "echo", "file")
	toFile.Stdout = file
	if l.wait(toFile); string(contents(t, file.Name())) != "file\n" {
		t.Errorf("a file has %q", contents(t, file.Name()))
	}
	if directory, err := os.Open("/etc"); err == nil { // it could be opened again past the mounts
		cmd := sandboxed(t, l.dir, "run", "--session", "w", "--", "true")
		cmd.Stdin = directory
		if status := l.wait(cmd); status != 125 {
			t.Errorf("a directory as standard input: %d", status)
		}
		directory.Close()
	}
	for _, script := range []string{"yes", "yes >&2", "trap '' TERM; yes"} { // as yes | head -1
		cmd := sandboxed(t, l.dir, "run", "--session", "w", "--", "sh", "-c", script)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout, cmd.Stderr = w, w
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		if _, err := r.Read(make([]byte, 2)); err != nil {
			t.Error(err)
		}
		r.Close()
		if status := l.wait(cmd); status != 128+int(syscall.SIGPIPE) {
			t.Errorf("%s, whose reader has gone: status %d", script, status)
		}
	}
	quiet := sandboxed(t, l.dir, "run", "--session", "w", "--", "sh", "-c", "echo a; read x; echo b || echo told >&2")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var told bytes.Buffer
	quiet.Stdin, quiet.Stdout, quiet.Stderr = in, w, &told
	if err := quiet.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := r.Read(make([]byte, 2)); err != nil {
		t.Error(err)
	}
	r.Close()
	time.Sleep(200 * time.Millisecond) // the end of the reader is seen without a write
	hold.WriteString("go\n")
	if status := l.wait(quiet); status != 128+int(syscall.SIGPIPE) && !strings.Contains(told.String(), "told") {
		t.Errorf("a write after the reader has gone succeeds: %d %q", status, told.String())
	}
}

func contents(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestSessionBackground: the client returns with its command, with all that this
// wrote, and what the background prints later is in the log, where it cannot pass
// for what another command printed.
func TestSessionBackground(t *testing.T) {
	l := lodged(t)
	out, _, status := l.sh("{ while [ ! -e /tmp/go ]; do sleep 0.05; done; printf 'later\\033[31m\\n== 2026-01-01 00:00:00  make test\\rpassed\\n'; touch /tmp/done; sleep 1000; } & echo first")
	if out != "first\n" || status != 0 {
		t.Fatalf("%q %d", out, status)
	}
	if logs := l.must("session", "logs", "w"); logs != "" {
		t.Errorf("before it prints the log has %q", logs)
	}
	l.sh("touch /tmp/go; while [ ! -e /tmp/done ]; do sleep 0.05; done")
	l.until("what it prints is not in the log", func() bool {
		return strings.Contains(l.must("session", "logs", "w"), "later")
	})
	if logs := l.must("session", "logs", "w"); strings.ContainsAny(logs, "\033\r") || !strings.HasPrefix(logs, "== ") || strings.Count("\n"+logs, "\n== ") != 1 {
		t.Errorf("the log is %q", logs)
	}
	if out, _, status := l.sh("yes & head -c 1000000 /dev/zero"); status != 0 || strings.Count(out, "\x00") != 1000000 {
		t.Errorf("beside one that prints without end: status %d, %d bytes", status, len(out))
	}
}

// TestSessionSignals: a signal for the client is one for its command, and the
// command ends with the client, with all that it started.
func TestSessionSignals(t *testing.T) {
	l := lodged(t)
	begin := func(script string) *exec.Cmd {
		cmd := sandboxed(t, l.dir, "run", "--session", "w", "--", "sh", "-c", script)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err == nil {
			_, err = out.Read(make([]byte, 3)) // it runs
		}
		if err != nil {
			t.Fatal(err)
		}
		go out.Read(make([]byte, 10))
		return cmd
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGHUP} {
		cmd := begin(fmt.Sprintf("trap 'exit 9' %d; echo up; while :; do sleep 0.02; done", sig))
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if status := l.wait(cmd); status != 9 {
			t.Errorf("%v: status %d", sig, status)
		}
	}
	cmd := begin("sleep 1001 & (setsid sleep 1002 &) ; setsid sleep 1003 & echo up; wait")
	l.until("not all that it starts runs", func() bool {
		return len(l.processes("sleep 1001")) == 1 && len(l.processes("sleep 1002")) == 1 && len(l.processes("sleep 1003")) == 1
	})
	cmd.Process.Kill()
	l.wait(cmd)
	l.until("a command outlives its client", func() bool {
		return len(l.processes("sleep 1001")) == 0 && len(l.processes("sleep 1003")) == 0
	})
	if len(l.processes("sleep 1002")) != 1 { // its parent had ended: it is in the background
		t.Errorf("in the background are %+v", l.status().Processes)
	}
}

// processes are those inside with a command line.
func (l *lodge) processes(line string) (found []session.Process) {
	l.t.Helper()
	for _, p := range l.status().Processes {
		if p.Line == line {
			found = append(found, p)
		}
	}
	return found
}

// TestSessionKilled: whatever is killed, nothing of the session stays, no client
// hangs, and the name can be used again.
func TestSessionKilled(t *testing.T) {
	l := lodged(t)
	for name, victims := range map[string]func(supervisor int, client int) []int{
		"supervisor": func(s, _ int) []int { return []int{s} },
		"init":       func(s, _ int) []int { return l.keepers(s)[:1] },
		"spawner":    func(s, _ int) []int { return l.keepers(s)[1:] },
		"all":        func(s, c int) []int { return append(below(s), s, c) },
	} {
		t.Run(name, func(t *testing.T) {
			l := &lodge{t, l.dir}
			l.start()
			l.sh("sleep 1000 & setsid sleep 1000 &")
			client := sandboxed(t, l.dir, "run", "--session", "w", "--", "sh", "-c", "echo up; sleep 1000")
			out, err := client.StdoutPipe()
			if err == nil {
				err = client.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := out.Read(make([]byte, 3)); err != nil {
				t.Fatal(err)
			}
			s := l.status()
			before := l.inside()
			for _, pid := range victims(s.PID, client.Process.Pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL) // one may have taken another with it
			}
			if status := l.wait(client); status != 128+int(syscall.SIGKILL) {
				t.Errorf("its client ends with %d", status)
			}
			l.until("the session is listed still", func() bool { return l.status().PID == 0 })
			l.empty(before)
		})
	}
	l.start()
}

// TestSessionClients: many at once each get what is theirs.
func TestSessionClients(t *testing.T) {
	l := lodged(t)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			cmd := sandboxed(t, l.dir, "run", "--session", "w", "--", "sh", "-c", fmt.Sprintf("cat; sleep 0.1; exit %d", i))
			var out bytes.Buffer
			cmd.Stdin, cmd.Stdout = strings.NewReader(strconv.Itoa(i)), &out
			err := cmd.Run()
			if cmd.ProcessState.ExitCode() != i || out.String() != strconv.Itoa(i) {
				t.Errorf("client %d: %q, %v", i, out.String(), err)
			}
		})
	}
	all.Wait()
}

// TestSessionDoesNotGrow: the processes of a session have no more descriptors,
// mounts and memory after many commands than after a few.
// ETHOS_TEST_SESSION_COMMANDS says how many.
func TestSessionDoesNotGrow(t *testing.T) {
	probetest.Whole(t)
	l := hooks(t).lodge // everything that it starts has started
	n := rounds(t, "ETHOS_TEST_SESSION_COMMANDS", 150)
	pid := l.status().PID
	holders := append(l.keepers(pid), pid)
	count := func() (descriptors, mounts, memory int) {
		for _, pid := range holders {
			descriptors += len(readDir(fmt.Sprintf("/proc/%d/fd", pid)))
			memory += anonymous(t, pid)
		}
		return descriptors, bytes.Count(contents(t, fmt.Sprintf("/proc/%d/mountinfo", holders[0])), []byte("\n")), memory
	}
	commands := func(n int) {
		for i := range n {
			if out, errs, status := l.sh("echo x; echo y >&2"); out != "x\n" || errs != "y\n" || status != 0 {
				t.Fatalf("command %d: %q %q %d", i, out, errs, status)
			}
		}
	}
	commands(100) // the supervisor's memory has the size then that it works in
	descriptors, mounts, memory := count()
	for range 20 { // the supervisor prepares the next command after the answer to the last one
		time.Sleep(50 * time.Millisecond)
		d, _, _ := count()
		descriptors = max(descriptors, d)
	}
	commands(n)
	l.until("descriptors or mounts have grown", func() bool {
		d, m, _ := count()
		return d <= descriptors && m == mounts
	})
	_, _, now := count()
	if t.Logf("memory %d KiB, and %d KiB after %d commands", memory, now, n); now > memory+16<<10 {
		t.Errorf("memory has grown from %d to %d KiB", memory, now)
	}
}

// anonymous is a process's memory that is no file's, in KiB: proc_pid_status(5).
func anonymous(t *testing.T, pid int) (n int) {
	t.Helper()
	_, rest, _ := strings.Cut(string(contents(t, fmt.Sprintf("/proc/%d/status", pid))), "\nRssAnon:")
	if _, err := fmt.Sscan(rest, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestSessionHostileClients: what talks to the supervisor and is no client harms
// nobody.
func TestSessionHostileClients(t *testing.T) {
	l := lodged(t)
	path := filepath.Join(l.sockets(), "w.sock")
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	dial := func() int {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err == nil {
			err = unix.Connect(fd, &unix.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d/w.sock", dir.Fd())})
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fd) })
		return fd
	}
	before := len(readDir(fmt.Sprintf("/proc/%d/fd", l.status().PID)))
	for name, text := range map[string]string{
		"nothing": "", "half a header": "\x00\x00", "half a message": "\x00\x00\x00\x10{\"run\"", "too large": "\xff\xff\xff\xff{",
		"no JSON": "\x00\x00\x00\x02xx", "no request": "\x00\x00\x00\x02{}", "an array": "\x00\x00\x00\x02[]",
		"nothing to run": "\x00\x00\x00\x0a{\"run\":{}}",
	} {
		for range 4 {
			fd := dial()
			if _, err := unix.Write(fd, []byte(text)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	argv := `{"run":{"argv":["dHJ1ZQ=="],"dir":"Lw==","streams":[1,1,1]}}` // true, in /, with three descriptors
	message := append([]byte{0, 0, 0, byte(len(argv))}, argv...)
	for _, n := range []int{0, 1, 4, 200} {
		fds := slices.Repeat([]int{int(dir.Fd())}, n)
		if err := unix.Sendmsg(dial(), message, unix.UnixRights(fds...), nil, 0); err != nil {
			t.Error(err)
		}
	}
	for range 8 { // who asks and never reads
		if _, err := unix.Write(dial(), []byte("\x00\x00\x00\x0f{\"status\":true}")); err != nil {
			t.Error(err)
		}
	}
	if out, errs, status := l.sh("echo works"); out != "works\n" || status != 0 {
		t.Errorf("after them: %q %q %d", out, errs, status)
	}
	stopped := sandboxed(t, l.dir, "run", "--session", "w", "--", "yes")
	if stopped.Stdout, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	}
	unread, full, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer unread.Close() // a reader that is gone would end the command
	stopped.Stderr = full
	stopped.Args = append(stopped.Args[:len(stopped.Args)-1], "sh", "-c", "yes >&2")
	if err := stopped.Start(); err != nil {
		t.Fatal(err)
	}
	l.until("the command does not run", func() bool { return len(l.status().Commands) == 1 })
	_ = stopped.Process.Signal(syscall.SIGSTOP)
	if out, errs, status := l.sh("echo works"); out != "works\n" || status != 0 {
		t.Errorf("beside one that is stopped: %q %q %d", out, errs, status)
	}
	stopped.Process.Kill()
	l.wait(stopped)
	l.until("its command does not end", func() bool { return len(l.status().Commands) == 0 })
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", l.status().PID))
	if err != nil || strings.Contains(string(text), "State:\tZ") {
		t.Errorf("the supervisor: %v", err)
	}
	if after := len(readDir(fmt.Sprintf("/proc/%d/fd", l.status().PID))); after > before+60 {
		t.Errorf("%d descriptors, and %d before", after, before)
	}
}

// TestSessionIsHidden: no plan shows the sockets, by whatever declaration, and a
// command of a session finds no descriptor of its supervisor. A directory beside
// is seen.
func TestSessionIsHidden(t *testing.T) {
	l := lodged(t)
	home := filepath.Join(filepath.Dir(l.dir), "home")
	if err := errors.Join(os.Mkdir(filepath.Join(home, "beside"), 0o755), os.WriteFile(filepath.Join(home, "beside/f"), []byte("seen"), 0o644)); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(l.sockets(), "w.sock")
	if _, err := os.Stat(socket); err != nil {
		t.Fatal(err)
	}
	script := "cat ~/beside/f; ls -a ~/.local/state/ethos 2>/dev/null; find / -xdev -name w.sock 2>/dev/null; test ! -e " + socket
	for _, flags := range [][]string{{"--ro", home}, {"--rw", filepath.Join(home, ".local"), "--ro", filepath.Join(home, "beside")}} {
		out, errs, status := l.does("", append(append([]string{"run"}, flags...), "--", "sh", "-c", script)...)
		if strings.Contains(out, "w.sock") || !strings.HasPrefix(out, "seen") || status != 0 {
			t.Errorf("%q: %q %q %d", flags, out, errs, status)
		}
	}
	for _, flags := range [][]string{{"--unix-socket", socket}, {"--ro", filepath.Dir(socket)}, {"--rw", filepath.Dir(socket)}} {
		if _, errs, status := l.does("", append(append([]string{"run"}, flags...), "--", "true")...); status != 125 {
			t.Errorf("%q: %d %s", flags, status, errs)
		}
	}
	out, _, _ := l.sh(`for p in 1 2; do
			for f in /proc/$p/fd/* /proc/$p/cwd /proc/$p/root; do readlink $f; ls $f/ ; (: < $f) && echo opened $f; done
			head -c 1 /proc/$p/mem
		done 2>/dev/null
		ls /proc/self/fd | tr '\n' ' '`)
	if out != "0 1 2 3 " { // 3 is the directory that ls lists
		t.Errorf("of the first processes it sees %q", out)
	}
}

// TestSessionBesideARun: a session that starts and ends beside a run changes
// nothing for it, also where the run is shown what is around the sockets.
func TestSessionBesideARun(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	for name, runtime := range map[string]bool{"state folder": false, "runtime directory": true} {
		t.Run(name, func(t *testing.T) {
			l := &lodge{t, space(t)}
			around := filepath.Join(filepath.Dir(l.dir), "home")
			sandboxed := func(args ...string) *exec.Cmd { return sandboxed(t, l.dir, args...) }
			if runtime {
				around = filepath.Join(filepath.Dir(l.dir), "run")
				if err := os.Mkdir(around, 0o700); err != nil {
					t.Fatal(err)
				}
				plain := sandboxed
				sandboxed = func(args ...string) *exec.Cmd {
					cmd := plain(args...)
					cmd.Env = append(cmd.Env, "XDG_RUNTIME_DIR="+around)
					return cmd
				}
			}
			for range 2 { // the second time the folder is there before
				run := sandboxed("run", "--ro", around, "--", "sh", "-c", "echo up; read x; find "+around+" -name 'w.*'")
				in, err1 := run.StdinPipe()
				out, err2 := run.StdoutPipe()
				if err := errors.Join(err1, err2, run.Start()); err != nil {
					t.Fatal(err)
				}
				if _, err := out.Read(make([]byte, 3)); err != nil {
					t.Fatal(err)
				}
				if status := l.wait(sandboxed("session", "start", "--name", "w", "--plain-git")); status != 0 {
					t.Fatalf("start: %d", status)
				}
				fmt.Fprintln(in)
				if seen, err := io.ReadAll(out); len(seen) > 0 || err != nil {
					t.Errorf("the run sees %s %v", seen, err)
				}
				if status := l.wait(run); status != 0 {
					t.Errorf("the run ends with %d", status)
				}
				other := sandboxed("run", "--ro", around, "--", "sleep", "0.3")
				if err := other.Start(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(100 * time.Millisecond)
				if status := l.wait(sandboxed("session", "end", "w")); status != 0 {
					t.Errorf("end: %d", status)
				}
				if status := l.wait(other); status != 0 {
					t.Errorf("a run during the end of the session ends with %d", status)
				}
			}
		})
	}
}

// TestSessionTerminal: somebody types into a shell of a session.
func TestSessionTerminal(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:bash")
	k := sitDown(t)
	k.types("$box session start --name w --plain-git && stty rows 33 cols 99; stty -g > before")
	k.sees("w")
	k.types("SHELL=/bin/bash $box shell --session w --plain-git; echo left-$?")
	k.types("PS1=; stty -echo; bind 'set enable-bracketed-paste off' 2>/dev/null; tty; stty size; printf '%s-side\\n' in")
	k.sees("/dev/pts/")
	k.sees("33 99")
	k.sees("in-side")
	k.types("sleep 1000")
	k.until("nothing runs", func() bool { return len(inSession(k, "sleep 1000")) == 1 })
	k.press(ctrlC)
	k.types("echo status-$?")
	k.sees("status-130")
	k.types("sleep 1001")
	k.until("nothing runs", func() bool { return len(inSession(k, "sleep 1001")) == 1 })
	k.press(ctrlZ)
	k.sees("Stopped")
	k.types("kill %1; wait; echo gone")
	k.sees("gone")
	if err := unix.IoctlSetWinsize(int(k.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 44, Col: 88}); err != nil {
		t.Fatal(err)
	}
	k.types("until [ \"$(stty size)\" = '44 88' ]; do sleep 0.05; done; echo sized; exit 7")
	k.sees("sized")
	k.sees("left-7")
	k.types("stty -g | cmp - before && echo as-before")
	k.sees("as-before")
	k.types("echo typed | $box run --session w -- sh -c 'cat; test -t 1 && echo screen'")
	k.sees("typed")
	k.sees("screen")
	k.types("$box run --session w -- sleep 1002 > /dev/null; echo cut-$?")
	k.until("nothing runs", func() bool { return len(inSession(k, "sleep 1002")) == 1 })
	k.press(ctrlC)
	k.sees("cut-130")
	k.types("$box run --session w -- sleep 1003 > /dev/null; echo cut-$?")
	k.until("nothing runs", func() bool { return len(inSession(k, "sleep 1003")) == 1 })
	k.press(ctrlZ)
	k.sees("Stopped")
	k.types("fg; echo again-$?")
	k.sees("sleep 1003")
	k.hasNotTerminal()
	k.press(ctrlC)
	k.sees("again-130")
	k.types("$box session end w; echo ended-$?")
	k.sees("ended-0")
}

// hasNotTerminal waits until a job of the shell is in the foreground.
func (k *typist) hasNotTerminal() {
	k.t.Helper()
	k.until("the shell has the terminal", func() bool {
		group, err := unix.IoctlGetInt(int(k.master.Fd()), unix.TIOCGPGRP)
		return err == nil && group != k.shell.Process.Pid
	})
}

func inSession(k *typist, line string) []session.Process {
	return (&lodge{k.t, k.dir}).processes(line)
}

// TestSessionStartedWhenNeeded: many that need a session at once get one.
func TestSessionStartedWhenNeeded(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	l := &lodge{t, space(t)}
	defer func() { l.must("session", "end", "--all") }()
	spaces := make([]string, 8)
	var all sync.WaitGroup
	for i := range spaces {
		all.Go(func() {
			cmd := sandboxed(t, l.dir, "run", "--session", "auto:w", "--", "readlink", "/proc/self/ns/pid")
			out, err := cmd.Output()
			if err != nil {
				t.Error(err)
			}
			spaces[i] = string(out)
		})
	}
	all.Wait()
	if slices.Sort(spaces); spaces[0] != spaces[len(spaces)-1] || spaces[0] == "" {
		t.Errorf("they were in %q", spaces)
	}
	if _, errs, status := l.does("", "run", "--session", "auto:w", "--net", "host", "--", "true"); status != 125 {
		t.Errorf("with another plan: %d %s", status, errs)
	}
}

// TestSessionEnds by itself when nothing is run, and by a signal.
func TestSessionEnds(t *testing.T) {
	l := lodged(t, "--idle", "700ms")
	l.sh("sleep 1000 &")
	before := l.inside()
	l.until("it does not end by itself", func() bool { return len(l.used()) == 0 })
	l.empty(before)
	if _, errs, status := l.does("", "run", "--session", "w", "--", "true"); status != 125 || !strings.Contains(errs, "session w is not running; it ended at ") || !strings.Contains(errs, ": nothing was run in it for 700ms\n") {
		t.Errorf("%d %s", status, errs)
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		l.start()
		before := l.inside()
		client := sandboxed(t, l.dir, "run", "--session", "w", "--", "sleep", "1000")
		if err := client.Start(); err != nil {
			t.Fatal(err)
		}
		l.until("the command does not run", func() bool { return len(l.status().Commands) == 1 })
		if err := syscall.Kill(l.status().PID, sig); err != nil {
			t.Fatal(err)
		}
		if status := l.wait(client); status != 137 {
			t.Errorf("%v: its client ends with %d", sig, status)
		}
		l.until("it is there still", func() bool { return len(l.used()) == 0 })
		l.empty(before)
	}
}

// TestSessionEvidence: a command's evidence is that of its session, with its name;
// what it left for an agent is told when it ends.
func TestSessionEvidence(t *testing.T) {
	l := lodged(t)
	name := filepath.Join(t.TempDir(), "evidence")
	_, errs, status := l.does("", "run", "--session", "w", "--evidence", name, "--", "sh", "-c", "echo '{}' > .mcp.json; exit 3")
	if status != 3 {
		t.Fatalf("%d %s", status, errs)
	}
	var result record.Result
	if err := json.Unmarshal(contents(t, name), &result); err != nil {
		t.Fatal(err)
	}
	box := result.Capture.Sandbox
	state := map[string]string{}
	for _, c := range box.Controls {
		state[c.Name] = c.State
	}
	if result.ExitCode != 3 || box.Session != "w" || box.PlanDigest != l.status().Digest || state["mount"] != "enforced" || state["seccomp"] != "enforced" {
		t.Errorf("the evidence is %s", contents(t, name))
	}
	if !strings.Contains(errs, ".mcp.json") || len(box.Denials) != 1 {
		t.Errorf("what it left is told as %q, %+v", errs, box.Denials)
	}
	if _, errs, _ := l.sh("true"); strings.Contains(errs, ".mcp.json") {
		t.Errorf("it is told again: %q", errs)
	}
	if _, err := os.Stat(filepath.Join(l.dir, ".mcp.json")); err == nil {
		t.Error("it is there still")
	}
}
