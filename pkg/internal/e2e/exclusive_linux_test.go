package e2e

import (
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
)

// TestExclusiveTerminal: a command cannot keep others from opening the terminal when
// it has ended, as programs do that ask for a password.
func TestExclusiveTerminal(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:python3")
	s := shellSession(t)
	dir, err := bin()
	if err != nil {
		t.Fatal(err)
	}
	master, slave := openTerminal(t)
	defer master.Close()
	defer slave.Close()
	run := func() {
		t.Helper()
		cmd := exec.Command(dir+"/ethos-sandbox", "run", "--", "python3", "-c", "import fcntl, termios; fcntl.ioctl(0, termios.TIOCEXCL)")
		cmd.Dir, cmd.Env = s.dir, s.env
		cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
	}
	is := func() bool {
		t.Helper()
		exclusive, err := unix.IoctlGetInt(int(slave.Fd()), unix.TIOCGEXCL)
		if err != nil {
			t.Fatal(err)
		}
		return exclusive != 0
	}
	if run(); is() {
		t.Error("the command has made the terminal exclusive")
	}
	if err := unix.IoctlSetInt(int(slave.Fd()), unix.TIOCEXCL, 0); err != nil {
		t.Fatal(err)
	}
	if run(); !is() {
		t.Error("the terminal was exclusive before, and is not any more")
	}
}
