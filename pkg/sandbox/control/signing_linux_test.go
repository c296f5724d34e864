package control

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/internal/probetest"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/shorttest"
)

// TestAnotherUser: a client of another user is none of the boundary's, one of this
// user is.
func TestAnotherUser(t *testing.T) {
	if path := os.Getenv("ETHOS_TEST_CONNECT"); path != "" {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		var end [1]byte
		_, _ = conn.Read(end[:])
		return
	}
	probetest.Need(t, probetest.Root)
	dir, err := os.MkdirTemp("", "ethos-sign-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path, exe := filepath.Join(dir, "s"), filepath.Join(dir, "test")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	if out, err := exec.Command("cp", self, exe).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, mode := range map[string]os.FileMode{dir: 0o755, exe: 0o755, path: 0o777} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	for uid, want := range map[uint32]bool{0: true, 65534: false} {
		cmd := exec.Command(exe, "-test.run=^TestAnotherUser$")
		cmd.Env, cmd.Dir = []string{"ETHOS_TEST_CONNECT=" + path}, dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		conn, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if own(conn) != want {
			t.Errorf("a client of user %d", uid)
		}
		conn.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// TestSigningEnds: the end of a run waits for what ends, and for nothing else.
func TestSigningEnds(t *testing.T) {
	shorttest.Long(t)
	job := &Job{Plan: &plan.Plan{GitSigning: capability.SignOwn}}
	c := newSigning(job)
	ended := false
	c.served.Go(func() { <-c.ctx.Done(); ended = true })
	if c.End(); !ended {
		t.Error("what is under way was not waited for")
	}
	c = newSigning(job)
	hangs := make(chan struct{})
	c.served.Go(func() { <-hangs })
	done := make(chan struct{})
	go func() { c.End(); close(done) }()
	select {
	case <-done:
	case <-time.After(3 * endingSigning):
		t.Error("what hangs keeps the run from ending")
	}
	close(hangs)
	<-done
}
