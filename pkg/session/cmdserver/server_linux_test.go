package cmdserver

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/cli"
	"ethos/pkg/session/dial"
	"ethos/pkg/statedir"
)

// callerVariable makes the test program a caller.
const callerVariable = "ETHOS_TEST_CALLER"

// notServed is the status of a caller that would do its own work.
const notServed = 77

func TestMain(m *testing.M) {
	if os.Getenv(callerVariable) == "" {
		os.Exit(m.Run())
	}
	var buffer dial.Buffer
	for range 5 { // on a busy machine, a caller may not be greeted in time
		if status, called := buffer.Do(os.Environ(), filepath.Base(os.Args[0]), os.Args[1:], true); called {
			os.Exit(status)
		}
	}
	os.Exit(notServed)
}

// served starts a server, and returns the environment in which it is found.
func served(t *testing.T, run func(sys *cli.System, args []string) cli.Status) (env []string, end func()) {
	t.Helper()
	state, err := os.MkdirTemp("", "calls")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(state) })
	env = []string{"XDG_STATE_HOME=" + state, callerVariable + "=1"}
	folder, err := statedir.Make(func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] }, "sessions")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := Program{Name: filepath.Base(self), Run: func(_ context.Context, sys *cli.System, args []string) cli.Status { return run(sys, args) }}
	life, stop := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Serve(t.Context(), p, dir, life) }()
	socket := filepath.Join(folder, dial.CallSocket(p.Name)+dial.SocketEnding)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := os.Lstat(socket); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no socket")
		}
	}
	end = sync.OnceFunc(func() {
		stop.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
		os.Remove(socket) // so does whoever has started it
	})
	t.Cleanup(end)
	return env, end
}

// calling returns a caller.
func calling(t *testing.T, env []string, input io.Reader, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, input, new(bytes.Buffer), new(bytes.Buffer) // pipes, not the null device
	return cmd
}

// TestServe: a call gets the arguments, environment, directory and streams of
// its caller, and the caller its status.
func TestServe(t *testing.T) {
	env, _ := served(t, func(sys *cli.System, args []string) cli.Status {
		input, err := io.ReadAll(sys.Stdin)
		own, _ := os.Readlink("/proc/self/cwd")
		fmt.Fprintf(sys.Stdout, "%q %q %s %s %s %v", args, sys.Environ, sys.Dir, own, input, err)
		fmt.Fprint(sys.Stderr, sys.Getenv("A"))
		return cli.Status(len(args))
	})
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args  []string
		input string
		pwd   string
		dir   string // as the call sees it
	}{
		{[]string{"a", "", "b c\n"}, "input", dir, dir},
		{nil, strings.Repeat("x", 1<<20), link, link},
		{slices.Repeat([]string{"x"}, 255), "", "/", dir},
	} {
		cmd := calling(t, append(slices.Clone(env), "A=1", "PWD="+c.pwd), strings.NewReader(c.input), c.args...)
		cmd.Dir = dir
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		_ = cmd.Run() // its status is compared
		want := fmt.Sprintf("%q %q %s %s %s <nil>", append([]string{}, c.args...), cmd.Env, c.dir, dir, c.input)
		if got := out.String(); got != want || errs.String() != "1" || cmd.ProcessState.ExitCode() != len(c.args) {
			t.Errorf("%.200q %v %.200s\nwant %.200s", c.args, cmd.ProcessState, got+errs.String(), want)
		}
	}
}

// TestServeMany: calls that wait leave room for others, up to a limit, beyond
// which callers do their own work. All that are served end before the server.
func TestServeMany(t *testing.T) {
	var ended atomic.Int32
	env, end := served(t, func(*cli.System, []string) cli.Status { ended.Add(1); return 3 })
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() }) // before the server is waited for
	pipe, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", in.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	var callers []*exec.Cmd
	for end := time.Now().Add(time.Minute); ; {
		missing := maxCalls - (opened(t, pipe) - 2) // this process has both ends
		if missing == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d calls have not begun", missing)
		}
		for range missing { // on a busy machine some do their own work
			cmd := calling(t, env, in)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			callers = append(callers, cmd)
		}
		time.Sleep(100 * time.Millisecond)
	}
	one := calling(t, env, in)
	if _ = one.Run(); one.ProcessState.ExitCode() != notServed {
		t.Errorf("one more than the limit: %v", one.ProcessState)
	}
	in.Close()
	go func() {
		time.Sleep(50 * time.Millisecond) // the server is ending by then
		out.Close()
	}()
	end()
	if n := ended.Load(); n != maxCalls {
		t.Errorf("the server has ended after %d calls", n)
	}
	done := 0
	for _, c := range callers {
		switch _ = c.Wait(); c.ProcessState.ExitCode() {
		case 3:
			done++
		case notServed:
		default:
			t.Errorf("%v", c.ProcessState)
		}
	}
	if done != maxCalls {
		t.Errorf("%d callers know how their calls ended", done)
	}
	late := calling(t, env, strings.NewReader(""))
	if _ = late.Run(); late.ProcessState.ExitCode() != notServed {
		t.Errorf("after the end: %v", late.ProcessState)
	}
}

// opened returns how often this process has a pipe open, either end.
func opened(t *testing.T, link string) (n int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && to == link {
			n++
		}
	}
	return n
}

// TestServeKilled: the call of a caller that is killed is given up.
func TestServeKilled(t *testing.T) {
	env, _ := served(t, func(*cli.System, []string) cli.Status { t.Error("it ran"); return 0 })
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	pipe, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", in.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	until := func(otherwise string, done func() bool) {
		for end := time.Now().Add(10 * time.Second); !done(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal(otherwise)
			}
		}
	}
	cmd := calling(t, env, in)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until("the call has not begun", func() bool { return opened(t, pipe) > 2 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	until("the call goes on", func() bool { return opened(t, pipe) == 2 })
}

// TestServeStuck: where a run does not end, other callers do their own work, and
// those that were greeted before are served in the end.
func TestServeStuck(t *testing.T) {
	hold, holds := make(chan bool), make(chan bool, 10)
	env, _ := served(t, func(*cli.System, []string) cli.Status { holds <- true; <-hold; return 3 })
	first := calling(t, env, strings.NewReader(""))
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	<-holds
	time.Sleep(2 * overdue)
	if one := calling(t, env, strings.NewReader("")); one.Run() == nil || one.ProcessState.ExitCode() != notServed {
		t.Errorf("meanwhile: %v", one.ProcessState)
	}
	close(hold)
	if _ = first.Wait(); first.ProcessState.ExitCode() != 3 {
		t.Errorf("the first: %v", first.ProcessState)
	}
	if one := calling(t, env, strings.NewReader("")); one.Run() == nil || one.ProcessState.ExitCode() != 3 {
		t.Errorf("after it: %v", one.ProcessState)
	}
}

// TestServeOutput: a caller whose output cannot be written, or is read by nobody,
// does not succeed.
func TestServeOutput(t *testing.T) {
	env, _ := served(t, func(sys *cli.System, _ []string) cli.Status {
		fmt.Fprint(sys.Stdout, strings.Repeat("x", 1<<20))
		return 0
	})
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	cmd := calling(t, env, strings.NewReader(""))
	cmd.Stdout = w
	if _ = cmd.Run(); cmd.ProcessState.Success() { // the Go runtime, which runs in this caller, takes SIGPIPE
		t.Errorf("nobody reads it: %v", cmd.ProcessState)
	}
	readOnly, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer readOnly.Close()
	var errs bytes.Buffer
	cmd = calling(t, env, strings.NewReader(""))
	cmd.Stdout, cmd.Stderr = readOnly, &errs
	if _ = cmd.Run(); cmd.ProcessState.ExitCode() != 2 || !strings.Contains(errs.String(), "bad file descriptor") {
		t.Errorf("it cannot be written: %v: %s", cmd.ProcessState, &errs)
	}
}

// TestServeDevices: devices and directories are not passed.
func TestServeDevices(t *testing.T) {
	env, _ := served(t, func(*cli.System, []string) cli.Status { return 0 })
	for _, name := range []string{os.DevNull, "/dev/full", "/"} {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		cmd := calling(t, env, f)
		if _ = cmd.Run(); cmd.ProcessState.ExitCode() != notServed {
			t.Errorf("%s: %v", name, cmd.ProcessState)
		}
		f.Close()
	}
}

// TestServeMalformed: what is no call ends the connection, and nothing else.
func TestServeMalformed(t *testing.T) {
	var calls atomic.Int32
	env, _ := served(t, func(*cli.System, []string) cli.Status { calls.Add(1); return 0 })
	name := filepath.Base(os.Args[0])
	folder := strings.TrimPrefix(env[0], "XDG_STATE_HOME=") + "/ethos/sessions/"
	text := (&dial.Call{Dir: "/", Args: []string{"a"}}).AppendTo(nil)
	three := []int{0, 1, 2, 0}
	for what, c := range map[string]struct {
		text []byte
		fds  []int
	}{
		"nothing":           {nil, three},
		"no streams":        {text, nil},
		"two streams":       {text, three[:2]},
		"no directory":      {text, three[:3]},
		"five":              {text, append(slices.Clone(three), 1)},
		"no end":            {text[:len(text)-1], three},
		"too few arguments": {[]byte("\x03/\x00a\x00b\x00"), three},
		"a long number":     {bytes.Repeat([]byte{0xff}, 20), three},
		"too long":          {append(slices.Clone(text), bytes.Repeat([]byte("x\x00"), maxMessage)...), three},
	} {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Connect(fd, &unix.SockaddrUnix{Name: folder + dial.CallSocket(name) + dial.SocketEnding}); err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, 10)
		if n, err := unix.Read(fd, answer); string(answer[:max(n, 0)]) != dial.Greeted || err != nil {
			t.Errorf("%s: greeted with %q, %v", what, answer, err)
		}
		var control []byte
		if c.fds != nil {
			control = unix.UnixRights(c.fds...)
		}
		if err := unix.Sendmsg(fd, c.text, control, nil, 0); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if n, err := unix.Read(fd, answer); n != 0 || err != nil {
			t.Errorf("%s: answered with %q, %v", what, answer[:max(n, 0)], err)
		}
		unix.Close(fd)
	}
	cmd := calling(t, env, strings.NewReader(""))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil || calls.Load() != 1 {
		t.Errorf("%v, %d calls", err, calls.Load())
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("\x01/dir\x00a\x00A=1\x00"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, text []byte) {
		call, err := parse(string(text))
		if err != nil {
			return
		}
		again, err := parse(string(call.AppendTo(nil)))
		if err != nil || !reflect.DeepEqual(again, call) {
			t.Errorf("%q: %+v, and again %+v, %v", text, call, again, err)
		}
	})
}
