package session

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
)

// TestMain becomes a client of a socket when it is told to (see knock), or a supervisor of another
// release (see TestOtherRelease).
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "supervise" {
		otherRelease()
	}
	if len(os.Args) > 2 && os.Args[1] == "knock" {
		to, err := net.Dial("unix", os.Args[2])
		if err != nil {
			os.Exit(3)
		}
		_, _ = to.Read(make([]byte, 1)) // until it is let go
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// environment is one with a runtime directory, or without.
func environment(t *testing.T, runtime bool) (getenv func(string) string, folder string) {
	t.Helper()
	base := filepath.Join(t.TempDir(), strings.Repeat("long", 40)) // longer than a socket's address
	if err := os.MkdirAll(filepath.Join(base, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{"HOME": base}
	folder = filepath.Join(base, ".local/state/ethos/sessions")
	if runtime {
		values["XDG_RUNTIME_DIR"] = filepath.Join(base, "run")
		folder = filepath.Join(base, "run/ethos")
	}
	return func(name string) string { return values[name] }, folder
}

func TestLock(t *testing.T) {
	for _, runtime := range []bool{true, false} {
		getenv, folder := environment(t, runtime)
		r := Open(getenv)
		if _, err := r.Dial("w"); !errors.Is(err, ErrNone) {
			t.Errorf("before anything is there: %v", err)
		}
		l, err := r.Lock("w")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(folder, "w.lock")); err != nil {
			t.Error(err)
		}
		if _, err := r.Lock("w"); !errors.Is(err, ErrBusy) {
			t.Errorf("a second one: %v", err)
		}
		listener, err := l.listen()
		if err != nil {
			t.Fatal(err)
		}
		if names, err := r.Names(); err != nil || len(names) != 1 {
			t.Errorf("%q %v", names, err)
		}
		listener.Close()
		l.Hand() // as if it had died
		if names, err := r.Names(); err != nil || len(names) != 0 {
			t.Errorf("after its death: %q %v", names, err)
		}
		if entries, err := os.ReadDir(folder); len(entries) > 0 || (err == nil) != runtime {
			t.Errorf("%q is left, %v", entries, err)
		}
	}
}

// TestDeadSupervisor: what one left is replaced.
func TestDeadSupervisor(t *testing.T) {
	getenv, folder := environment(t, true)
	r := Open(getenv)
	for range 3 {
		l, err := r.Lock("w")
		if err != nil {
			t.Fatal(err)
		}
		listener, err := l.listen()
		if err != nil {
			t.Fatal(err)
		}
		to, err := net.Dial("unix", "/proc/self/fd/"+fdOf(t, folder)+"/w.sock")
		if err != nil {
			t.Fatal(err)
		}
		to.Close()
		listener.Close()
		l.Hand()
		if _, err := r.Dial("w"); !errors.Is(err, ErrNone) {
			t.Errorf("a socket that nobody listens on: %v", err)
		}
	}
}

// TestEnded: the reason for an end is kept until the next start, for a day, and shown as one line; a link is not followed.
func TestEnded(t *testing.T) {
	for _, runtime := range []bool{true, false} {
		getenv, folder := environment(t, runtime)
		r := Open(getenv)
		l, err := r.Lock("w")
		if err != nil {
			t.Fatal(err)
		}
		l.leave("the boundary\n\x1b[31mchanged " + strings.Repeat("x", 2*maxEnded))
		l.Release()
		at, why := r.Ended("w")
		if time.Since(at) > time.Minute || !strings.HasPrefix(why, "the boundary") || strings.ContainsAny(why, "\n\x1b") || len(why) > 2*maxEnded {
			t.Errorf("%v %q", at, why)
		}
		for _, name := range []string{"v", "../w", ""} {
			if _, why := r.Ended(name); why != "" {
				t.Errorf("%q: %q", name, why)
			}
		}
		path := filepath.Join(folder, "w"+endedEnding)
		old := time.Now().Add(-endedFor - time.Minute)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		if names, err := r.Names(); err != nil || len(names) > 0 {
			t.Error(names, err)
		}
		if _, why := r.Ended("w"); why != "" {
			t.Errorf("after a day: %q", why)
		}
		if l, err = r.Lock("w"); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/etc/passwd", path); err != nil {
			t.Fatal(err)
		}
		if _, why := r.Ended("w"); why != "" {
			t.Errorf("a link: %q", why)
		}
		l.leave("idle")
		if _, why := r.Ended("w"); why != "idle" {
			t.Errorf("in the place of a link: %q", why)
		}
		l.leave("")
		if _, why := r.Ended("w"); why != "" {
			t.Errorf("after a start: %q", why)
		}
		l.Release()
	}
}

// fdOf is the number of a descriptor of a directory, for as long as the test.
func fdOf(t *testing.T, dir string) string {
	t.Helper()
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return filepath.Base(inFolder(f, "")[:len(inFolder(f, ""))-1])
}

// TestRuntimeOfAnother: a runtime directory that is a link, that others enter, or
// that is somebody else's is passed by.
func TestRuntimeOfAnother(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"mode": func(dir string) error { return os.Chmod(dir, 0o750) },
		"link": func(dir string) error { return errors.Join(os.Rename(dir, dir+"2"), os.Symlink(dir+"2", dir)) },
		"file": func(dir string) error { return errors.Join(os.Remove(dir), os.WriteFile(dir, nil, 0o700)) },
		"none": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			getenv, _ := environment(t, true)
			if err := spoil(getenv("XDG_RUNTIME_DIR")); err != nil {
				t.Fatal(err)
			}
			l, err := Open(getenv).Lock("w")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Release()
			if want := filepath.Join(getenv("HOME"), ".local/state/ethos/sessions"); l.path != want {
				t.Errorf("its sockets are in %s", l.path)
			}
		})
	}
}

// knock has a process of other credentials connect, and returns what is thought
// of it.
func knock(t *testing.T, attr *syscall.SysProcAttr) error {
	t.Helper()
	dir, err := os.MkdirTemp("", "ethos-knock-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	exe := filepath.Join(dir, "knock")
	self, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = errors.Join(os.WriteFile(exe, self, 0o755), os.Chmod(dir, 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unix"})
	if err == nil {
		err = os.Chmod(filepath.Join(dir, "s"), 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	cmd := exec.Command(exe, "knock", filepath.Join(dir, "s"))
	cmd.SysProcAttr = attr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	to, err := listener.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	pid, err := (&conn{UnixConn: to}).peer(true)
	if err == nil && pid != cmd.Process.Pid {
		t.Errorf("process %d is taken for %d", cmd.Process.Pid, pid)
	}
	return err
}

// TestPeers: a client of another user, and one in another user namespace, are told
// from one's own.
func TestPeers(t *testing.T) {
	if err := knock(t, nil); err != nil {
		t.Errorf("a client of one's own: %v", err)
	}
	t.Run("namespace", func(t *testing.T) {
		probetest.Need(t, probetest.UserNS)
		uid := os.Geteuid()
		maps := []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		if err := knock(t, &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER, UidMappings: maps}); err == nil {
			t.Error("a client of another user namespace is let in")
		}
	})
	t.Run("user", func(t *testing.T) {
		probetest.Need(t, probetest.Root)
		if err := knock(t, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}); err == nil {
			t.Error("a client of another user is let in")
		}
	})
}

// otherRelease is a supervisor that greets as no release does.
func otherRelease() {
	lock, err := Open(os.Getenv).Lock("w")
	if err != nil {
		panic(err)
	}
	listener, err := lock.listen()
	if err != nil {
		panic(err)
	}
	os.Stdout.Close()
	for {
		to, err := listener.AcceptUnix()
		if err != nil {
			panic(err)
		}
		text, _ := encode(greeting(`{"version":0}`))
		to.Write(text)
		go to.Read(make([]byte, 1<<10))
	}
}

// TestOtherRelease: no command runs in a session of another release, which can still be ended.
func TestOtherRelease(t *testing.T) {
	getenv, _ := environment(t, true)
	cmd := exec.Command(os.Args[0], "supervise")
	cmd.Env = []string{"HOME=" + getenv("HOME"), "XDG_RUNTIME_DIR=" + getenv("XDG_RUNTIME_DIR")}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	out.Read(make([]byte, 1)) // it listens
	_, err = Open(getenv).Dial("w")
	var other *OtherRelease
	if !errors.As(err, &other) || other.Name != "w" {
		t.Fatalf("%v", err)
	}
	go cmd.Wait()
	if err := other.End(); err != nil {
		t.Error(err)
	}
	if _, err := Open(getenv).Dial("w"); !errors.Is(err, ErrNone) {
		t.Errorf("after its end: %v", err)
	}
}
