package boundary

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"ethos/pkg/fileops"
	"ethos/pkg/record"
)

// TestWorkerInSession: a worker in a session meets the session's boundary, shares
// what the session has, and ends without it.
func TestWorkerInSession(t *testing.T) {
	l := lodged(t)
	outside := filepath.Join(filepath.Dir(l.dir), "outside")
	for _, err := range []error{os.Mkdir(outside, 0o755), os.WriteFile(outside+"/secret", []byte("secret\n"), 0o600), os.Symlink(outside, l.dir+"/out")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, errs, status := l.sh("echo theirs > /tmp/made; echo one > a"); status != 0 {
		t.Fatal(errs)
	}
	evidence := filepath.Join(t.TempDir(), "evidence")
	w := startTestWorker(t, l.dir, "--session", "w", "--evidence", evidence)
	for _, c := range []struct{ attack, codes, twin string }{
		{`"op":"read","path":"` + outside + `/secret"`, "ENOENT EACCES", `"op":"read","path":"` + l.dir + `/a"`},
		{`"op":"read","path":"out/secret"`, "EXDEV", `"op":"stat","path":"out"`},
		{`"op":"write","path":".mcp.json","text":"{}"`, "EACCES", `"op":"write","path":"mcp.json","text":"{}"`},
		{`"op":"write","path":"/run/ethos/ethos-sandbox","text":"x"`, "EROFS EACCES", `"op":"stat","path":"/run/ethos/ethos-sandbox"`},
		{`"op":"read","path":"/proc/1/root/etc/passwd"`, "ELOOP EACCES", `"op":"read","path":"/tmp/made"`},
		{`"op":"read","path":"/etc/shadow"`, "ENOENT EACCES", `"op":"write","path":"/tmp/ours","text":"x"`},
	} {
		if a := w.ask(c.attack); codeOf(a) == "" || !strings.Contains(" "+c.codes+" ", " "+codeOf(a)+" ") {
			t.Errorf("%s: %q, want %s: %s", c.attack, codeOf(a), c.codes, a.Result)
		}
		if twin := w.ask(c.twin); codeOf(twin) != "" {
			t.Errorf("the twin %s fails: %+v", c.twin, twin.Error)
		}
	}
	if out, errs, _ := l.sh("cat /tmp/ours mcp.json"); out != "x{}" {
		t.Errorf("of what it wrote the session has %q %s", out, errs)
	}
	if status := w.end(); status != 1 {
		t.Errorf("status %d: %s", status, &w.stderr)
	}
	var result record.Result
	if err := json.Unmarshal(contents(t, evidence), &result); err != nil {
		t.Fatal(err)
	}
	if box := result.Capture.Sandbox; box.Session != "w" || box.PlanDigest != l.status().Digest || result.Status != record.StatusExited {
		t.Errorf("the evidence is %s", contents(t, evidence))
	}
}

// stop stops every thread of a process, and waits until they are: the first that
// receives the signal stops the others, which may still answer somebody.
func (l *lodge) stop(pid int) {
	l.t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		l.t.Fatal(err)
	}
	l.until("it does not stop", func() bool {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		return len(tasks) > 0 && !slices.ContainsFunc(tasks, func(stat string) bool {
			text, _ := os.ReadFile(stat)
			return !strings.HasPrefix(string(text[bytes.LastIndexByte(text, ')')+1:]), " T ")
		})
	})
}

// TestWorkerInSessionKilled: whoever is killed, each request has an answer, and
// nothing of the worker stays inside.
func TestWorkerInSessionKilled(t *testing.T) {
	l := lodged(t)
	gone := func() bool { return len(l.status().Processes) == 0 }
	for _, victim := range []string{"inside", "client", "session"} {
		w := startTestWorker(t, l.dir, "--session", "w")
		if a := w.ask(`"op":"list"`); a.Error != nil {
			t.Fatal(a.Error)
		}
		inside := l.status().Processes
		if len(inside) != 1 {
			t.Fatalf("inside are %+v", inside)
		}
		l.stop(inside[0].PID)
		w.send(`{"id":"1","op":"write","path":"f","text":""}`)
		pid := map[string]int{"inside": inside[0].PID, "client": w.cmd.Process.Pid, "session": l.status().PID}[victim]
		w.send(`{"id":"1","op":"stat","path":"a"}`) // answered at once: the one before it has been read
		if a := w.receive(); codeOf(a) != fileops.CodeDuplicateID {
			t.Errorf("%+v", a)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if victim == "client" {
			w.end()
			l.until("its process lives on", gone)
			continue
		}
		if a := w.receive(); codeOf(a) != fileops.CodeWorkerEnded {
			t.Errorf("%s: %+v", victim, a)
		}
		if status := w.end(); status != 125 || !strings.Contains(w.stderr.String(), "the confined process ended") {
			t.Errorf("%s: status %d: %s", victim, status, &w.stderr)
		}
		l.until("its process lives on", gone)
	}
	l.start()
	w := startTestWorker(t, l.dir, "--session", "w", "--timeout", "1s")
	if status := w.end(); status != 0 {
		t.Errorf("the twin that nobody kills: status %d: %s", status, &w.stderr)
	}
	if _, errs, status := l.does("", "worker", "--session", "nosuch"); status != 125 || !strings.Contains(errs, "session nosuch is not running") {
		t.Errorf("without the session: %d %s", status, errs)
	}
}
