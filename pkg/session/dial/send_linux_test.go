package dial

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/statedir"
)

// listening listens as the supervisor of a session does, and returns the
// environment that leads there.
func listening(t *testing.T, name string) (*net.UnixListener, []string) {
	t.Helper()
	state, err := os.MkdirTemp("", "dial") // shorter than t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(state) })
	env := []string{"A", "B=", "XDG_STATE_HOME=" + state, "XDG_STATE_HOME=/none"}
	folder, err := statedir.Make(func(name string) string { return lookup(env, name) }, "sessions")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: filepath.Join(folder, name+SocketEnding)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, env
}

// TestSend: what arrives is the command, with the standard streams that are
// passed.
func TestSend(t *testing.T) {
	l, env := listening(t, "work")
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	c := Command{Argv: []string{"a", "", "b c"}, Env: env, Dir: dir, Umask: umask(), Streams: Kinds([3]int{0, 1, 2})}
	s := new(Buffer).Send(env, "work", c.Argv)
	if slices.Contains(c.Streams[:], Terminal) {
		if s != nil {
			t.Error("a command with a terminal was requested")
		}
		return
	}
	if s == nil {
		t.Fatal("nothing was requested")
	}
	defer syscall.Close(s.FD)
	supervisor, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer supervisor.Close()
	text, rights := make([]byte, 10<<10), make([]byte, 100)
	n, m, _, _, err := supervisor.ReadMsgUnix(text, rights)
	if want := c.AppendRequest(nil); err != nil || string(text[:n]) != string(want) {
		t.Errorf("%v: %q, want %q", err, text[:n], want)
	}
	var fds []int
	list, err := syscall.ParseSocketControlMessage(rights[:m])
	for i := range list {
		fds, err = syscall.ParseUnixRights(&list[i])
	}
	if err != nil {
		t.Fatal(err)
	}
	var passed []int
	for i, kind := range c.Streams {
		if kind == Passed {
			passed = append(passed, i)
		}
	}
	for i, fd := range fds {
		var got, want syscall.Stat_t
		if err := syscall.Fstat(fd, &got); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Fstat(passed[i], &want); err != nil || got.Ino != want.Ino || got.Rdev != want.Rdev {
			t.Errorf("stream %d is another: %v", passed[i], err)
		}
		syscall.Close(fd)
	}
	if len(fds) != len(passed) || s.Name != "work" || s.Streams != c.Streams {
		t.Errorf("%d streams came, %d are passed: %+v", len(fds), len(passed), s)
	}
}

// TestSendFails: nothing is requested of whom nobody would request it, or what
// is too long.
func TestSendFails(t *testing.T) {
	_, env := listening(t, "work")
	long := strings.Repeat("x", maxSent/2)
	for name, c := range map[string]struct {
		env        []string
		name, word string
	}{
		"another name":      {env, "other", "true"},
		"a long word":       {env, "work", long},
		"a long variable":   {append([]string{long}, env...), "work", "true"},
		"no state folder":   {nil, "work", "true"},
		"an unclean folder": {append([]string{"XDG_RUNTIME_DIR=/tmp/.."}, env...), "work", "true"},
		"a long folder":     {[]string{"HOME=/" + long[:syscall.PathMax]}, "work", "true"},
	} {
		if s := new(Buffer).Send(c.env, c.name, []string{c.word}); s != nil {
			t.Errorf("%s: requested", name)
			syscall.Close(s.FD)
		}
	}
}

// listensVariable makes TestSendToOthers listen where its parent does.
const listensVariable = "ETHOS_TEST_LISTENS"

// TestSendToOthers: nothing is sent to a process of another user or PID namespace
// that listens in the folder, or that has ended while another one has its socket.
// The same process of these namespaces is sent the request.
func TestSendToOthers(t *testing.T) {
	if os.Getenv(listensVariable) != "" {
		if err := syscall.Listen(3, 1); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("listens\n")
		if os.Getenv(listensVariable) == "and ends" { // while the parent has the socket open
			return
		}
		io.Copy(io.Discard, os.Stdin)
		return
	}
	probetest.Need(t, probetest.UserNS)
	for _, c := range []struct {
		what   string
		flags  uintptr
		listen string
		sent   bool
	}{
		{"these namespaces", 0, "1", true},
		{"another user namespace", syscall.CLONE_NEWUSER, "1", false},
		{"another PID namespace", syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID, "1", false},
		{"it has ended", 0, "and ends", false},
		{"it has ended in another PID namespace", syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID, "and ends", false},
	} {
		l, env := listening(t, "work")
		f, err := l.File()
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestSendToOthers$")
		cmd.Env, cmd.ExtraFiles = append(os.Environ(), listensVariable+"="+c.listen), []*os.File{f}
		if c.flags != 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{
				Cloneflags:  c.flags,
				UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}},
			}
		}
		in, err1 := cmd.StdinPipe()
		out, err2 := cmd.StdoutPipe()
		if err := errors.Join(err1, err2, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil || line != "listens\n" {
			t.Fatalf("%q, %v", line, err)
		}
		if c.listen != "1" {
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		}
		s := new(Buffer).Send(env, "work", []string{"true"})
		kinds := Kinds([3]int{0, 1, 2})
		if terminals := slices.Contains(kinds[:], Terminal); (s != nil) != (c.sent && !terminals) {
			t.Errorf("%s; requested: %t", c.what, s != nil)
		}
		if s != nil {
			syscall.Close(s.FD)
		}
		in.Close()
		if c.listen == "1" {
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestSendAllocatesNothing: before the Go runtime has started nothing can be
// allocated.
func TestSendAllocatesNothing(t *testing.T) {
	_, env := listening(t, "work")
	env = append(env, slices.Repeat([]string{"VARIABLE=" + strings.Repeat("x", 100)}, 100)...)
	argv := slices.Repeat([]string{"word"}, 100)
	var buffer Buffer
	said := []byte(framed(Greeting) + framed("hello") + framed("started") + Success)
	end, err := syscall.Open(os.DevNull, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(end)
	var made float64
	for range 3 {
		made += testing.AllocsPerRun(1, func() {
			if s := buffer.Send(env, "work", argv); s != nil { // no stream is a terminal
				syscall.Close(s.FD)
			}
		})
	}
	s, supervisor := sending(t)
	if err := syscall.Sendmsg(supervisor, said, syscall.UnixRights(end), nil, 0); err != nil {
		t.Fatal(err)
	}
	over := false
	made += testing.AllocsPerRun(1, func() { over = s.Succeeds(usualLimit) })
	if made != 0 || !over {
		t.Errorf("%v allocations, over: %t", made, over)
	}
}
