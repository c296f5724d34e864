package signals

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// TestMain is also the program that the tests start.
func TestMain(m *testing.M) {
	if what := os.Getenv("ETHOS_TEST_SIGNALS"); what != "" {
		behave(what)
		return
	}
	os.Exit(m.Run())
}

// behave does what a test wants of another process. It writes a line when signals
// may come.
func behave(what string) {
	if what == "blocked" {
		os.Setenv("ETHOS_TEST_SIGNALS", "echo")
		again(syscall.SIGUSR1)
		return
	}
	got := make(chan os.Signal, 1)
	Notify(got, syscall.SIGTERM, syscall.SIGUSR1)
	switch what {
	case "reset": // the second signal has its default action
		fmt.Println("ready")
		fmt.Println(<-got)
		Reset(syscall.SIGTERM)
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
		time.Sleep(time.Minute)
	case "stop": // that of the Go runtime, which is the default one
		fmt.Println("ready")
		fmt.Println(<-got)
		Stop(got)
		fmt.Println("stopped")
		time.Sleep(time.Minute)
	case "child":
		cmd := exec.Command("sh", "-c", "kill -TERM $$; sleep 60")
		fmt.Println(cmd.Run())
	case "replaced":
		_ = syscall.Exec("/bin/sh", []string{"sh", "-c", "echo ready; exec sleep 60"}, os.Environ())
	case "echo":
		fmt.Println("ready")
		fmt.Println(<-got)
	}
}

// again executes this program anew, with a signal blocked.
func again(s syscall.Signal) {
	runtime.LockOSThread()
	mask := uint64(1) << (s - 1)
	const sigBlock = 0
	if _, _, e := syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, sigBlock, uintptr(unsafe.Pointer(&mask)), 0, 8, 0, 0); e != 0 {
		fmt.Println(e)
	}
	fmt.Println(syscall.Exec(os.Args[0], os.Args, os.Environ()))
}

// start starts that program, and returns it when it is ready, with what it writes.
func start(t *testing.T, what string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // a signal that is lost fails the test
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), "ETHOS_TEST_SIGNALS="+what)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if what != "child" && (!lines.Scan() || lines.Text() != "ready") {
		t.Fatalf("it does not begin: %q", lines.Text())
	}
	return cmd, lines
}

// died returns the signal that ended a process, or 0.
func died(t *testing.T, cmd *exec.Cmd) syscall.Signal {
	t.Helper()
	var exit *exec.ExitError
	if err := cmd.Wait(); err == nil {
		return 0
	} else if !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return exit.Sys().(syscall.WaitStatus).Signal()
}

// TestNotify: each channel gets the signals that it wants, and none after Stop.
func TestNotify(t *testing.T) {
	one, both := make(chan os.Signal, 4), make(chan os.Signal, 4)
	Notify(one, syscall.SIGUSR1)
	Notify(both, syscall.SIGUSR1, syscall.SIGUSR2)
	defer Stop(both)
	Notify(one, syscall.SIGUSR1) // again
	expect := func(c chan os.Signal, want os.Signal) {
		t.Helper()
		select {
		case got := <-c:
			if got != want {
				t.Errorf("got %v, not %v", got, want)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%v does not come", want)
		}
	}
	send := func(s syscall.Signal) {
		t.Helper()
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
	}
	send(syscall.SIGUSR1)
	expect(one, syscall.SIGUSR1)
	expect(both, syscall.SIGUSR1)
	send(syscall.SIGUSR2)
	expect(both, syscall.SIGUSR2)
	Stop(one)
	send(syscall.SIGUSR1)
	expect(both, syscall.SIGUSR1)
	if len(one) > 0 || len(both) > 0 {
		t.Errorf("too many: %d, %d", len(one), len(both))
	}
}

// TestDefault: after Reset and after Stop a signal ends the process.
func TestDefault(t *testing.T) {
	for _, what := range []string{"reset", "stop"} {
		cmd, lines := start(t, what)
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if !lines.Scan() || lines.Text() != "terminated" {
			t.Errorf("%s: it got %q", what, lines.Text())
		}
		if what == "stop" && lines.Scan() {
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
		if by := died(t, cmd); by != syscall.SIGTERM {
			t.Errorf("%s: ended by %v", what, by)
		}
	}
}

// TestOthers: neither a child nor a program that replaces this one handles or
// blocks anything.
func TestOthers(t *testing.T) {
	_, lines := start(t, "child")
	if lines.Scan(); lines.Text() != "signal: terminated" {
		t.Errorf("the child ended with %q", lines.Text())
	}
	cmd, _ := start(t, "replaced")
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if by := died(t, cmd); by != syscall.SIGTERM {
		t.Errorf("its successor ended by %v", by)
	}
}

// TestBlocked: a program that was started with a signal blocked gets it. The runtime
// itself unblocks those that end a program, such as SIGTERM.
func TestBlocked(t *testing.T) {
	cmd, lines := start(t, "blocked")
	_ = cmd.Process.Signal(syscall.SIGUSR1)
	if !lines.Scan() || lines.Text() != "user defined signal 1" {
		t.Errorf("it got %q", lines.Text())
	}
	if by := died(t, cmd); by != 0 {
		t.Errorf("ended by %v", by)
	}
}

// TestStorm has many signals interrupt threads that work, wait, grow their stacks
// and collect garbage.
func TestStorm(t *testing.T) {
	got := make(chan os.Signal, 1)
	Notify(got, syscall.SIGUSR1, syscall.SIGUSR2)
	defer Stop(got)
	var end atomic.Bool
	done := make(chan int)
	for range 4 {
		go func() {
			n := 0
			for !end.Load() {
				n += deep(200) + len(make([]byte, 1<<12))
				runtime.Gosched()
			}
			done <- n
		}()
	}
	for i := range 20_000 {
		if err := syscall.Kill(os.Getpid(), []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGURG}[i%3]); err != nil {
			t.Fatal(err)
		}
		if i%1000 == 0 {
			runtime.GC()
			select {
			case <-got:
			case <-time.After(10 * time.Second):
				t.Fatal("signals do not come any more")
			}
		}
	}
	end.Store(true)
	for range 4 {
		<-done
	}
}

func deep(n int) int {
	var room [64]byte
	if n == 0 {
		return int(room[0])
	}
	return deep(n-1) + int(room[n%64])
}
