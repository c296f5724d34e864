package steps

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/timerslack"
)

// Launcher is a program that makes namespaces and a root, and in them executes
// this program again with the arguments that Arguments gets: see [Inside]. This
// program goes on from there with the calls of a [Program].
type Launcher struct {
	Path string
	// Arguments returns the arguments, which end with inside, the program
	// to execute and its own, and files. The launcher has these as the
	// descriptors from first on; they are closed when it has been started.
	Arguments func(inside []string, first int) (argv []string, files []*os.File, err error)
}

// LaunchError means that a launcher did not get as far as this program.
type LaunchError struct {
	Name string
	Says string // its last lines on standard error
	Err  error  // why it was not started; nil if it was
}

func (e *LaunchError) Error() string {
	switch {
	case e.Err != nil:
		return e.Name + ": " + e.Err.Error()
	case e.Says != "":
		return e.Says
	}
	return e.Name + " ended without a message"
}

func (e *LaunchError) Unwrap() error { return e.Err }

// launched is the part of a [Process] that a launcher started.
type launched struct {
	name   string
	image  []byte
	errors *os.File      // standard error of the launcher
	begun  bool          // this program runs inside
	over   chan struct{} // ends the thread that started it
}

// errNoInside is the error of a program that cannot go on inside.
var errNoInside = errors.New("this program does not begin its main function with sandbox.ExecShim")

// launch starts the launcher of a program. The thread that starts it stays,
// because the launcher may ask to be killed when it ends (PR_SET_PDEATHSIG). On
// an error nothing is left: neither a process nor a descriptor.
func launch(p *Program) (*Process, error) {
	l := p.Launcher
	fail := func(err error) (*Process, error) {
		return nil, &LaunchError{Name: l.Path, Err: err}
	}
	if !mayGoInside {
		return fail(errNoInside)
	}
	image, err := p.image()
	if err != nil {
		return fail(err)
	}
	pair, err := channelPair()
	if err != nil {
		return nil, err
	}
	defer unix.Close(pair[1])
	started := &Process{channel: pair[0], program: p, launched: &launched{name: l.Path, image: image, over: make(chan struct{})}}
	runtime.LockOSThread() // until Wait
	if err := started.execute(l, p.CgroupFD, pair[1]); err != nil {
		runtime.UnlockOSThread()
		unix.Close(pair[0])
		return fail(err)
	}
	return started, nil
}

// execute starts the launcher with no environment, an own process group,
// nothing on its standard input and output, and a pipe as its standard error. A
// process group of its own keeps the terminal's signals away (SIGINT of
// Ctrl-C); [Process.Signal] sends what is meant for the command.
func (p *Process) execute(l *Launcher, cgroup, channel int) error {
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer self.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	says, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer write.Close()
	files := []uintptr{null.Fd(), null.Fd(), write.Fd(), self.Fd(), uintptr(channel)}
	argv, more, err := l.Arguments([]string{"/proc/self/fd/3", insideWord, "4"}, len(files))
	for _, f := range more {
		defer f.Close()
		files = append(files, f.Fd())
	}
	if err == nil {
		attr := &syscall.ProcAttr{Dir: "/", Env: []string{}, Files: files, Sys: &syscall.SysProcAttr{Setpgid: true, PidFD: &p.pidfd, UseCgroupFD: cgroup > 0, CgroupFD: cgroup}}
		err = p.onOwnThread(l.Path, argv, attr)
	}
	if err != nil {
		says.Close()
		return err
	}
	p.launched.errors = says
	return nil
}

// onOwnThread starts a process from a thread that stays until it is told to
// end, and that has a session keyring of its own, which the process inherits:
// keyrings(7).
func (p *Process) onOwnThread(path string, argv []string, attr *syscall.ProcAttr) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // without its counterpart: the thread ends with the goroutine
		if _, err := unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0); err != nil {
			keyring := Step{Stage: "init", Call: "keyctl", Object: "a session keyring of its own"}
			p.notes = append(p.notes, Event{Kind: Note, Err: &StepError{Step: keyring, Part: PartInit, Errno: err.(syscall.Errno)}})
		}
		timerslack.Restore()
		var err error
		p.PID, err = syscall.ForkExec(path, argv, attr)
		done <- err
		if err == nil {
			<-p.launched.over
		}
	}()
	return <-done
}

// feed passes the calls and the descriptors to this program inside, which has
// reported that it runs. One message carries at most 253 descriptors:
// SCM_MAX_FD, unix(7).
func (p *Process) feed() error {
	p.launched.begun = true
	err := p.pass(p.launched.image)
	p.launched.image = nil
	return err
}

// pass sends the image of the program, and the descriptors that the calls need.
func (p *Process) pass(image []byte) error {
	fd, err := unix.MemfdCreate("image", unix.MFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("image of a run: memfd_create: %w", err)
	}
	defer unix.Close(fd)
	if n, err := unix.Write(fd, image); err != nil || n != len(image) {
		return fmt.Errorf("image of a run: %d of %d bytes written: %w", n, len(image), err)
	}
	numbers := []int64{int64(len(image))}
	rights := []int{fd}
	for _, n := range p.program.Pass {
		numbers, rights = append(numbers, int64(n)), append(rights, n)
	}
	if err := unix.Sendmsg(p.channel, bytesOf(numbers), unix.UnixRights(rights...), nil, unix.MSG_NOSIGNAL); err != nil {
		return fmt.Errorf("channel to the child: sendmsg: %w", err)
	}
	return nil
}

// failed returns the event for a channel that was closed: a launcher that did
// not get to this program has said why. A launcher may write any amount, so the
// text is bounded.
func (l *launched) failed() Event {
	if l == nil || l.begun {
		return Event{Kind: Gone}
	}
	l.begun = true                                            // report it once
	_ = l.errors.SetReadDeadline(time.Now().Add(time.Second)) // a child of the launcher may have it open
	text, _ := io.ReadAll(io.LimitReader(l.errors, 4096))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return Event{Kind: Failed, Err: &LaunchError{Name: l.name, Says: strings.Join(lines[max(0, len(lines)-3):], "; ")}}
}

// close releases what launch acquired, when the launcher has ended.
func (l *launched) close() {
	if l != nil {
		l.errors.Close()
		close(l.over)
	}
}

// insideWord is the first argument of this program where a launcher has put it;
// the second is the number of the channel.
const insideWord = "ethos-sandbox-init"

// mayGoInside says that the main function of this program calls [Inside].
var mayGoInside bool

// AsksInside reports whether a launcher has started this program, which must
// then call [Inside] and nothing else. It must be called at the start of the
// main function.
func AsksInside(args []string) bool {
	mayGoInside = true
	return len(args) == 3 && args[1] == insideWord
}

// Inside runs the calls of a [Program] in the namespaces that a launcher made,
// and returns the exit status when everything has ended. It stays between the
// launcher and init, since only a process with one thread can be init: a
// runtime handles SIGCHLD on any thread. The exit status is 0 also if the
// command has failed: the channel reports how it ended. Another status means
// that nothing was run.
func Inside(args []string) int {
	channel, err := strconv.Atoi(args[2])
	if err == nil {
		err = goInside(channel)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "ethos-sandbox: inside: %v\n", err)
		return failedStatus
	}
	return 0
}
