package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
)

// ownDevices, set in the environment, says that this process has a /dev of its own.
const ownDevices = "ETHOS_TEST_OWN_DEV"

// inOwnDev runs a test in a process whose /dev is a file system of its own with the usual nodes, and reports whether this is the one.
func inOwnDev(t *testing.T) bool {
	t.Helper()
	probetest.Need(t, probetest.UserNS, probetest.Root)
	before := os.Getenv(ownDevices)
	var dev unix.Stat_t
	if err := unix.Stat("/dev", &dev); err != nil {
		t.Fatal(err)
	}
	if before == "" {
		probetest.NeedFunc(t, "devices", func() string {
			if err := unix.Mknod(filepath.Join(t.TempDir(), "null"), unix.S_IFCHR|0o666, int(deviceNumbers["null"])); err != nil {
				return err.Error()
			}
			cmd := exec.Command("true")
			cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
			if err := cmd.Run(); err != nil {
				return err.Error()
			}
			return ""
		})
		cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
		cmd.Env = append(os.Environ(), ownDevices+"="+strconv.FormatUint(dev.Dev, 10))
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS} // its mounts are private: package syscall sees to that
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
			t.Fatalf("%v\n%s", err, out)
		}
		return false
	}
	if err := unix.Mount("none", "/dev", "tmpfs", unix.MS_NOSUID, "mode=755"); err != nil {
		t.Fatal(err)
	}
	err := errors.Join(os.Mkdir("/dev/pts", 0o755), os.Mkdir("/dev/shm", 0o1777))
	for name, number := range deviceNumbers {
		path := filepath.Join("/dev", name)
		err = errors.Join(err, unix.Mknod(path, unix.S_IFCHR|0o666, int(number)), os.Chmod(path, 0o666))
	}
	if err = errors.Join(err, unix.Stat("/dev", &dev)); err != nil {
		t.Fatal(err)
	}
	if strconv.FormatUint(dev.Dev, 10) == before {
		t.Fatal("it is the /dev of the machine")
	}
	return true
}

var deviceNumbers = map[string]uint64{
	"null": unix.Mkdev(1, 3), "zero": unix.Mkdev(1, 5), "full": unix.Mkdev(1, 7), "random": unix.Mkdev(1, 8), "urandom": unix.Mkdev(1, 9), "tty": unix.Mkdev(5, 0),
}

// devices tells of the nodes what a command could have changed.
func devices(t *testing.T) string {
	t.Helper()
	text := ""
	for name := range deviceNumbers {
		var st unix.Stat_t
		if err := unix.Lstat("/dev/"+name, &st); err != nil {
			t.Fatal(err)
		}
		if st.Uid != 0 || st.Gid != 0 || st.Mode != unix.S_IFCHR|0o666 || st.Mtim.Sec == attackTime {
			text += fmt.Sprintf("%s: %d:%d %o %d\n", name, st.Uid, st.Gid, st.Mode, st.Mtim.Sec)
		}
	}
	return text
}

const (
	attackTime = 1000000000
	declaredFD = 99 // of /dev/zero
)

// TestDevices: root's command writes to the device nodes of the machine and changes none, in its own work space and in that of somebody else.
func TestDevices(t *testing.T) {
	if !inOwnDev(t) {
		return
	}
	declared := strconv.Itoa(declaredFD)
	zero, err := unix.Open("/dev/zero", unix.O_RDONLY, 0)
	if err == nil {
		err = unix.Dup3(zero, declaredFD, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(*testing.T, string) Spec{"own": repository, "owner": owned} {
		for _, c := range []struct{ attack, twin string }{
			{"chown 64017 /dev/zero", "head -c 4 /dev/zero | wc -c"},
			{"chown 64017:64017 /dev/random", "head -c 4 /dev/random | wc -c"},
			{"chgrp 64017 /dev/urandom", "head -c 4 /dev/urandom | wc -c"},
			{"chmod 600 /dev/full", "! echo x 2>/dev/null > /dev/full"},
			{"chmod 600 /dev/null", "echo x > /dev/null; echo x >> /dev/null; exec 3<>/dev/null; echo x >&3"},
			{"touch -d @" + strconv.Itoa(attackTime) + " /dev/null", "dd if=/dev/zero of=/dev/null bs=1 count=4"},
			{"exec 3</dev/zero; chmod 600 /proc/self/fd/3", "exec 3</dev/zero; head -c 4 <&3 | wc -c"},
			{"chmod 600 /dev/stdin", "cat /dev/stdin | wc -c; echo x >&0; exec 3</dev/stdin"}, // /dev/null
			{"chown 64017 /proc/self/fd/0", "! read line"},
			{"chmod 600 /proc/self/fd/" + declared, "head -c 4 /proc/self/fd/" + declared + " | wc -c"},
			{"chmod 600 /dev/tty", "ls -l /dev/tty"},
			{"rm /dev/null", "cat /dev/null"},
			{"mv /dev/null /dev/gone", "cp /dev/null /tmp/empty"},
		} {
			spec := make(t, "("+c.attack+") 2>/tmp/said && echo 'the attack passed'; ("+c.twin+") >/dev/null 2>&1 && echo 'the twin passed'; cat /tmp/said >&2")
			spec.Descriptors = []int{declaredFD}
			r := execute(t, spec)
			if r.err != nil || r.Stdout.Text != "the twin passed\n" {
				t.Errorf("%s: %s: %v %q %s", name, c.attack, r.err, r.Stdout.Text, r.Stderr.Text)
			}
			if changed := devices(t); changed != "" {
				t.Fatalf("%s: %s changed %s", name, c.attack, changed)
			}
		}
	}
}

// TestDeviceStreams: the same by the streams of a session's commands.
func TestDeviceStreams(t *testing.T) {
	if !inOwnDev(t) {
		return
	}
	s, p := session(t, nil)
	for _, c := range []struct{ attack, twin string }{
		{"chmod 600 /dev/stdin", "cat /dev/stdin"},
		{"chown 64017 /proc/self/fd/0", "echo x >&0"},
		{"chmod 600 /dev/null", "echo x > /dev/null"},
	} {
		status, said, err := say(t, s, p, "("+c.attack+") 2>/dev/null && echo 'the attack passed'; ("+c.twin+") && echo 'the twin passed'")
		if err != nil || status != 0 || said != "the twin passed\n" {
			t.Errorf("%s: %v %v %q", c.attack, err, status, said)
		}
		if changed := devices(t); changed != "" {
			t.Fatalf("%s changed %s", c.attack, changed)
		}
	}
}
