package boundary

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/session/dial"
)

// TestCallsConfined: a session with no_new_privs serves no calls, because what
// else restricts it is not visible. One without does: see hooks.
func TestCallsConfined(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	l := &lodge{t, space(t)}
	start := sandboxed(t, l.dir, "session", "start", "--name", "w", "--plain-git")
	start.Args = append([]string{"setpriv", "--no-new-privs"}, start.Args...)
	start.Path = "/usr/bin/setpriv"
	if out, err := start.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	defer l.must("session", "end", "w")
	l.must("run", "--session", "w", "--", "true")
	time.Sleep(500 * time.Millisecond)
	for _, program := range dial.Served() {
		if pid, err := peer(filepath.Join(l.sockets(), dial.CallSocket(program)+dial.SocketEnding)); err == nil {
			t.Errorf("process %d serves %s", pid, program)
		}
	}
}

// TestCallsReplaced: a server whose program, or whose caller's program, was
// replaced serves no calls.
func TestCallsReplaced(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "programs")
	if out, err := exec.Command("cp", "-r", filepath.Dir(exe), dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	from := func(c *exec.Cmd) { c.Path = filepath.Join(dir, filepath.Base(c.Path)) }
	l := &lodge{t, space(t)}
	start := sandboxed(t, l.dir, "session", "start", "--name", "w", "--plain-git")
	from(start)
	if out, err := start.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	defer l.must("session", "end", "w")
	h := &hooked{l, l.sockets()}
	event := fmt.Sprintf(bash, h.dir, "ls")
	for _, c := range []struct{ program, flag, replaced string }{{"ethos-decide", "--reply", "ethos-cel"}, {"ethos-facts", "--from", "ethos-facts"}} {
		pid := h.server(c.program)
		served := false
		for range tries {
			s := h.call(from, c.program, c.flag, "claude")
			served = h.servedBy(s, pid) || served
			h.gets(s, event)
		}
		if !served {
			t.Errorf("%s is not served before", c.program)
		}
		name := filepath.Join(dir, c.replaced)
		if out, err := exec.Command("sh", "-c", `cp "$0" "$0.new" && mv "$0.new" "$0"`, name).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		s := h.call(from, c.program, c.flag, "claude")
		if h.servedBy(s, pid) {
			t.Errorf("%s is served though %s was replaced", c.program, c.replaced)
		}
		h.gets(s, event)
	}
}
