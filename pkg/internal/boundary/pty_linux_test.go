package boundary

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// typist is somebody at a terminal with a shell that has job control.
type typist struct {
	t      *testing.T
	master *os.File
	shell  *exec.Cmd
	dir    string

	mu   sync.Mutex
	seen strings.Builder
	read int // of what was seen, up to the last thing that was waited for
}

// patience is how long something may take on a machine with other things to do.
const patience = time.Minute

// sitDown opens a terminal with an interactive shell on it, in a work space. What is typed is not echoed, so that only what programs say is seen.
func sitDown(t *testing.T) *typist {
	t.Helper()
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	k := open(t, space(t))
	k.shell.Path, k.shell.Args = "/bin/bash", []string{"bash", "--noprofile", "--norc", "--noediting", "-i"}
	k.shell.Env = append(k.shell.Env, "PS1=", "TERM=dumb", "box="+exe)
	k.begin()
	k.types("stty -echo; printf '%s-down\\n' sat")
	k.sees("sat-down")
	return k
}

// open opens a terminal for ethos-sandbox with args, which is the leader of its session.
func open(t *testing.T, dir string, args ...string) *typist {
	t.Helper()
	master, slave := openTerminal(t)
	k := &typist{t: t, master: master, dir: dir, shell: sandboxed(t, dir, args...)}
	k.shell.Stdin, k.shell.Stdout, k.shell.Stderr = slave, slave, slave
	k.shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return k
}

// begin starts what is on the terminal.
func (k *typist) begin() {
	k.t.Helper()
	slave := k.shell.Stdin.(*os.File)
	err := k.shell.Start()
	slave.Close()
	if err != nil {
		k.t.Fatal(err)
	}
	go k.watch()
	k.t.Cleanup(k.leave)
}

// openTerminal is posix_openpt(3) and its like.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	master = os.NewFile(uintptr(fd), "/dev/ptmx")
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

func (k *typist) watch() {
	buf := make([]byte, 4096)
	for {
		n, err := k.master.Read(buf)
		k.mu.Lock()
		k.seen.Write(buf[:n])
		k.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// leave hangs up: the shell and its jobs get SIGHUP.
func (k *typist) leave() {
	k.master.Close()
	done := time.AfterFunc(patience, func() { k.shell.Process.Kill() })
	k.shell.Wait()
	done.Stop()
	k.until("processes of the session outlive it", func() bool { return len(k.session()) == 0 })
}

// session is the processes that were started at the terminal and are alive.
func (k *typist) session() (pids []int) {
	for _, entry := range readDir("/proc") {
		pid, err := strconv.Atoi(entry)
		if err != nil {
			continue
		}
		if sid, err := unix.Getsid(pid); err == nil && sid == k.shell.Process.Pid {
			pids = append(pids, pid)
		}
	}
	return pids
}

func readDir(dir string) (names []string) {
	entries, _ := os.ReadDir(dir) // none where there is no such directory
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// types enters a line.
func (k *typist) types(line string) { k.t.Helper(); k.press(line + "\n") }

// press presses keys.
func (k *typist) press(keys string) {
	k.t.Helper()
	if _, err := k.master.WriteString(keys); err != nil {
		k.t.Fatal(err)
	}
}

// The keys that send signals: termios(3).
const (
	ctrlC         = "\x03"
	ctrlD         = "\x04"
	ctrlZ         = "\x1a"
	ctrlBackslash = "\x1c"
)

// sees waits until something is on the screen, after what was seen before.
func (k *typist) sees(want string) {
	k.t.Helper()
	k.until("it did not say "+want, func() bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		at := strings.Index(k.seen.String()[k.read:], want)
		if at >= 0 {
			k.read += at + len(want)
		}
		return at >= 0
	})
}

func (k *typist) until(otherwise string, done func() bool) {
	k.t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.t.Fatalf("%s; on the screen:\n%s", otherwise, k.seen.String())
		}
	}
}

// hasTerminal waits until the shell is in the foreground again.
func (k *typist) hasTerminal() {
	k.t.Helper()
	k.until("the shell does not have the terminal", func() bool {
		group, err := unix.IoctlGetInt(int(k.master.Fd()), unix.TIOCGPGRP)
		return err == nil && group == k.shell.Process.Pid
	})
}

// ended reports whether a process is only there to be waited for.
func ended(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err != nil || strings.Contains(string(text), "\nState:\tZ")
}

// commandOf is the name of a process, as in proc_pid_comm(5).
func commandOf(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.TrimSpace(string(text))
}
