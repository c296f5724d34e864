//go:build amd64 || arm64

package faultinject

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
)

// Helper is a process under an [Injector], which does the same thing again and
// again.
type Helper struct {
	Injector
	ask     *json.Encoder
	answers *json.Decoder
}

// Start starts the test binary as a helper, with a variable NAME=VALUE in its
// environment that makes a test call [Attend]. user is nil for the user of this
// process.
func Start(t *testing.T, roles Roles, test, variable string, user *syscall.Credential) *Helper {
	t.Helper()
	ours, theirs := socketPair(t)
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+test+"$")
	cmd.Env = append(os.Environ(), variable)
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Credential: user}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	h := &Helper{Injector: Injector{helper: cmd.Process.Pid, roles: roles}, ask: json.NewEncoder(ours), answers: json.NewDecoder(ours)}
	var fd int
	if err := h.answers.Decode(&fd); err != nil {
		t.Fatal(err)
	}
	if fd < 0 {
		probetest.NeedFunc(t, "seccomp", func() string { return "no seccomp listener: " + syscall.Errno(-fd).Error() })
	}
	h.listener = fetch(t, h.helper, fd)
	done := make(chan struct{})
	go func() { h.serve(); close(done) }()
	t.Cleanup(func() {
		ours.Close()
		cmd.Wait()
		unix.Close(h.listener)
		<-done
	})
	return h
}

func socketPair(t *testing.T) (a, b *os.File) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(pair[0]), "control"), os.NewFile(uintptr(pair[1]), "control")
}

// fetch duplicates a descriptor of the helper: pidfd_getfd(2).
func fetch(t *testing.T, pid, fd int) int {
	t.Helper()
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pidfd)
	got, err := unix.PidfdGetfd(pidfd, fd, 0)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Run has the helper do its thing once, while one call fails. The zero call is
// none. It returns the calls that were counted, in order, and whether the one to
// fail was among them.
func (h *Helper) Run(t *testing.T, call Call, errno syscall.Errno, answer any) (calls []Call, met bool) {
	t.Helper()
	h.arm(call, errno)
	if err := h.ask.Encode("run"); err != nil {
		t.Fatal(err)
	}
	if err := h.answers.Decode(answer); err != nil {
		t.Fatalf("%v = %v: the helper is gone: %v", call, errno, err)
	}
	return h.disarm()
}

// Attend is the code of a helper. It returns when the test has ended, and panics
// on an error. prepare is called on the thread that puts the filter on this
// process. What it returns is called for each run, and its value is the answer.
// The listener is not asked about the calls that are unseen.
func Attend(unseen []uint32, prepare func() (func() any, error)) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Dup3(3, controlFD, unix.O_CLOEXEC); err != nil {
		panic(err)
	}
	unix.Close(3)
	control := os.NewFile(controlFD, "control")
	answers, asked := json.NewEncoder(control), json.NewDecoder(control)
	run, err := prepare()
	if err != nil {
		panic(err)
	}
	fd, err := listen(unseen)
	var errno syscall.Errno
	if errors.As(err, &errno) {
		fd = -int(errno)
	}
	answers.Encode(fd)
	for {
		var word string
		if err := asked.Decode(&word); errors.Is(err, io.EOF) {
			return
		}
		answers.Encode(run())
	}
}
