package boundary

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"ethos/pkg/fileops"
	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
)

// worker is one that a test talks to.
type worker struct {
	t        *testing.T
	cmd      *exec.Cmd
	requests io.WriteCloser
	answers  *bufio.Reader
	stderr   bytes.Buffer
}

// startTestWorker starts one in a work space with a git directory.
func startTestWorker(t *testing.T, dir string, flags ...string) *worker {
	t.Helper()
	probetest.Need(t, probetest.UserNS)
	w := &worker{t: t, cmd: sandboxed(t, dir, append([]string{"worker"}, flags...)...)}
	w.cmd.Stderr = &w.stderr
	var err error
	if w.requests, err = w.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.answers = bufio.NewReader(out)
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.cmd.Process.Kill() })
	return w
}

// testSpace is a work space, and a directory beside it that nobody declares.
func testSpace(t *testing.T) (dir, outside string) {
	t.Helper()
	dir = space(t)
	outside = filepath.Join(filepath.Dir(dir), "outside")
	for _, d := range []string{dir + "/.git/hooks", dir + "/.git/objects", dir + "/.git/refs", outside} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{dir + "/.git/HEAD": "ref: refs/heads/main\n", dir + "/.git/config": "[core]\n", dir + "/a": "one\n", outside + "/secret": "secret\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, outside
}

func (w *worker) send(line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.requests, line+"\n"); err != nil {
		w.t.Fatalf("%v: %s", err, &w.stderr)
	}
}

func (w *worker) receive() *fileops.Answer {
	w.t.Helper()
	line, err := w.answers.ReadBytes('\n')
	if err != nil {
		w.t.Fatalf("%v: %q: %s", err, line, &w.stderr)
	}
	a, err := fileops.ParseAnswer(line)
	if err != nil {
		w.t.Fatalf("%v: %q", err, line)
	}
	return a
}

func (w *worker) ask(line string) *fileops.Answer {
	w.t.Helper()
	w.send(`{"id":"1",` + line + `}`)
	return w.receive()
}

// end closes the input, and returns the status.
func (w *worker) end() int {
	w.requests.Close()
	io.Copy(io.Discard, w.answers)
	w.cmd.Wait()
	return w.cmd.ProcessState.ExitCode()
}

func codeOf(a *fileops.Answer) string {
	if a.Error != nil {
		return a.Error.Code
	}
	return ""
}

// TestWorkerBoundary: what the boundary refuses, each with its allowed twin.
func TestWorkerBoundary(t *testing.T) {
	dir, outside := testSpace(t)
	if err := os.Symlink(outside, dir+"/out"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/opencode.json", []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	evidence := filepath.Join(t.TempDir(), "evidence")
	w := startTestWorker(t, dir, "--deny-read", "hidden?", "--evidence", evidence)
	for _, c := range []struct{ attack, codes, twin string }{
		{`"op":"write","path":".git/hooks/x","text":"#!/bin/sh"`, "EROFS", `"op":"write","path":".git/description","text":"x"`},
		{`"op":"write","path":".git/config","text":""`, "EXDEV", `"op":"read","path":".git/HEAD"`}, // inside it is a link,
		{`"op":"edit","path":".git/config","old":"core","new":"x"`, "EXDEV", `"op":"grep","path":".git/HEAD","pattern":"ref"`},
		{`"op":"rename","path":".git","to":"git"`, "EBUSY", `"op":"rename","path":".git/description","to":".git/described"`},
		{`"op":"remove","path":".git/hooks","recursive":true`, "EBUSY", `"op":"remove","path":".git/described"`},
		{`"op":"write","path":".mcp.json","text":"{}"`, "EACCES", `"op":"write","path":"mcp.json","text":"{}"`},
		{`"op":"write","path":"opencode.json","text":"x"`, "EROFS EACCES", `"op":"read","path":"opencode.json"`},
		{`"op":"rename","path":"mcp.json","to":"opencode.json","replace":true`, "EBUSY EACCES", `"op":"rename","path":"mcp.json","to":"m.json"`},
		{`"op":"mkdir","path":".claude"`, "EACCES", `"op":"mkdir","path":"claude"`},
		{`"op":"read","path":"` + outside + `/secret"`, "ENOENT EACCES", `"op":"read","path":"` + dir + `/a"`},
		{`"op":"read","path":"out/secret"`, "EXDEV", `"op":"stat","path":"out"`},
		{`"op":"read","path":"/etc/shadow"`, "ENOENT EACCES", `"op":"read","path":"/etc/passwd"`},
		{`"op":"read","path":"~/.ssh/id_rsa"`, "ENOENT", `"op":"list"`},
		{`"op":"write","path":"/etc/passwd","text":"x"`, "EROFS EACCES", `"op":"write","path":"/tmp/x","text":"x"`},
		{`"op":"read","path":"/proc/1/root/etc/passwd"`, "ELOOP EACCES", `"op":"read","path":"/proc/self/status"`},
		{`"op":"read","path":"/proc/self/root/etc/passwd"`, "ELOOP", `"op":"list","path":"/proc/self/fd"`},
		{`"op":"read","path":"/dev/zero"`, "EINVAL", `"op":"stat","path":"/dev/zero"`},
		{`"op":"remove","path":"/tmp","recursive":true`, "EBUSY EROFS EACCES", `"op":"remove","path":"/tmp/x"`},
	} {
		a := w.ask(c.attack)
		if code := codeOf(a); code == "" || !strings.Contains(" "+c.codes+" ", " "+code+" ") {
			t.Errorf("%s: %q, want %s: %s", c.attack, code, c.codes, a.Result)
		} else if a.Error.Hint == "" || a.Error.Path == "" {
			t.Errorf("%s: no hint or no path: %+v", c.attack, a.Error)
		}
		if twin := w.ask(c.twin); codeOf(twin) != "" {
			t.Errorf("the twin %s fails: %+v", c.twin, twin.Error)
		}
	}
	if status := w.end(); status != 1 {
		t.Errorf("status %d: %s", status, &w.stderr)
	}
	if text, err := os.ReadFile(outside + "/secret"); err != nil || string(text) != "secret\n" {
		t.Errorf("outside: %q, %v", text, err)
	}
	var out record.Result
	text, err := os.ReadFile(evidence)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range out.Capture.Sandbox.Controls {
		if (c.Name == "landlock" || c.Name == "seccomp" || c.Name == "mount") && c.State != "enforced" {
			t.Errorf("%+v", c)
		}
	}
	if out.Capture.Sandbox.Profile != "agent-shell" || len(out.Capture.Sandbox.Denials) > 0 {
		t.Errorf("profile %s, denials %v", out.Capture.Sandbox.Profile, out.Capture.Sandbox.Denials)
	}
}

// TestWorkerLines: what is no request is answered with its line, and the rest is
// carried out.
func TestWorkerLines(t *testing.T) {
	dir, _ := testSpace(t)
	w := startTestWorker(t, dir, "--max-line", "4096")
	for i, c := range []struct{ line, id, code string }{
		{`{"id":"1","op":"read","path":"a"}`, "1", ""},
		{`nonsense`, "", "invalid_json"},
		{`{"id":"x","op":"fly"}`, "x", "wrong_value"},
		{`{"id":"2","op":"write","path":"b","text":"` + strings.Repeat("x", 5000) + `"}`, "", "too_long"},
		{`{"id":"3","op":"write","path":"b","text":"` + strings.Repeat("x", 4000) + `"}`, "3", ""},
	} {
		w.send(c.line)
		a := w.receive()
		if a.ID != c.id || codeOf(a) != c.code || c.code != "" && a.Error.Line != i+1 {
			t.Errorf("%.40s: %+v %+v", c.line, a, a.Error)
		}
	}
	if status := w.end(); status != 3 {
		t.Errorf("status %d: %s", status, &w.stderr)
	}
	w = startTestWorker(t, dir)
	w.ask(`"op":"read","path":"a"`)
	if status := w.end(); status != 0 {
		t.Errorf("the twin without such lines: status %d: %s", status, &w.stderr)
	}
}

// TestWorkerKilled: when the confined process is killed each request under way
// has an answer, and the status is 125.
func TestWorkerKilled(t *testing.T) {
	dir, _ := testSpace(t)
	w := startTestWorker(t, dir)
	if a := w.ask(`"op":"read","path":"a"`); a.Error != nil {
		t.Fatal(a.Error)
	}
	pid := insideOf(t, w.cmd.Process.Pid)
	(&lodge{t, dir}).stop(pid)
	left := map[string]bool{}
	for i := range 5 {
		id := strconv.Itoa(i)
		w.send(`{"id":"` + id + `","op":"write","path":"f` + id + `","text":""}`)
		left[id] = true
	}
	w.send(`{"id":"4","op":"stat","path":"a"}`) // answered at once: all before it have been read
	if a := w.receive(); codeOf(a) != fileops.CodeDuplicateID || a.ID != "" || a.Error.Line != 7 {
		t.Errorf("%+v %+v", a, a.Error)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		a := w.receive()
		if codeOf(a) != fileops.CodeWorkerEnded || !left[a.ID] || a.Error.Op != "write" || a.Error.Hint == "" {
			t.Errorf("%+v %+v", a, a.Error)
		}
		delete(left, a.ID)
	}
	if status := w.end(); status != 125 || !strings.Contains(w.stderr.String(), "the confined process ended") {
		t.Errorf("status %d: %s", status, &w.stderr)
	}
}

// insideOf is the pid, here, of the confined process of a worker.
func insideOf(t *testing.T, worker int) int {
	t.Helper()
	parents, name := map[int]int{}, map[int]string{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile("/proc/" + e.Name() + "/stat")
		cmdline, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])); len(fields) > 1 {
			parents[pid], _ = strconv.Atoi(fields[1])
			name[pid] = string(cmdline)
		}
	}
	for pid := range parents {
		for at := pid; at > 1; at = parents[at] {
			if parents[at] == worker && strings.Contains(name[pid], "worker-inside") {
				return pid
			}
		}
	}
	t.Fatalf("no confined process below %d", worker)
	return 0
}

// TestWorkerTimeLimit: requests at the time limit are answered; the status is 124.
func TestWorkerTimeLimit(t *testing.T) {
	dir, _ := testSpace(t)
	w := startTestWorker(t, dir, "--timeout", "1s")
	if _, err := io.Copy(io.Discard, w.answers); err != nil { // until the limit
		t.Fatal(err)
	}
	if status := w.end(); status != 124 {
		t.Errorf("status %d: %s", status, &w.stderr)
	}
}

// TestWorkerSchema: --schema prints that of the worker's lines, and without the
// command that of the pipe's.
func TestWorkerSchema(t *testing.T) {
	dir := space(t)
	out, err := sandboxed(t, dir, "worker", "--schema").Output()
	if err != nil || !bytes.Equal(out, fileops.Schema()) {
		t.Errorf("%v: %.100s", err, out)
	}
	if out, err = sandboxed(t, dir, "--schema").Output(); err != nil || bytes.Equal(out, fileops.Schema()) {
		t.Errorf("%v: %.100s", err, out)
	}
}
