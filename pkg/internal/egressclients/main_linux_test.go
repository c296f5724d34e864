package egressclients

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
	_ "ethos/pkg/sandbox/boundary" // so that results are not cached beyond a change of the program
)

// What this binary is, beside a test: see TestMain.
const (
	stageVariable   = "ETHOS_TEST_WORLD_STAGE"   // "enter", "inside" or "network"
	programVariable = "ETHOS_TEST_WORLD_PROGRAM" // ethos-sandbox
	attackWord      = "attack"                   // as the first argument: the attacker
	fetchWord       = "fetch"                    // as the first argument: a static client
	holdWord        = "hold"                     // the same: one with many connections at once
	drainWord       = "drain"                    // the same: one that counts what it is sent
)

// outside says why the tests are not in the world; "" when they are.
var outside string

// TestMain runs the tests in the world: this binary starts itself in new
// namespaces, sets them up ("enter") and starts itself again, without the
// capabilities that took ("inside"). Where others make the namespaces, as in a
// container, one process gives the network its addresses and stays ("network"),
// and another one of the same network is started as "inside".
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case attackWord:
			os.Exit(attack(os.Args[2:]))
		case holdWord:
			os.Exit(hold(os.Args[2], os.Args[3]))
		case drainWord:
			os.Exit(drain(os.Args[2]))
		case fetchWord:
			os.Exit(fetch(os.Args[2]))
		}
	}
	switch os.Getenv(stageVariable) {
	case "inside":
		check(os.Setenv("PATH", searchPath))
		theWorld = newWorld()
		os.Exit(m.Run())
	case "network":
		check(giveNetwork())
		check(unix.Pause())
	case "enter":
		fmt.Fprintln(os.Stderr, "enter:", enter())
		os.Exit(2)
	}
	status, err := inWorld()
	if err != nil {
		outside = err.Error()
		status = m.Run()
	}
	os.Exit(status)
}

// needWorld skips a test that could not be brought into the world.
func needWorld(t *testing.T) {
	t.Helper()
	probetest.NeedFunc(t, probetest.UserNS, func() string { return outside })
	probetest.Need(t, "command:ip")
}

// inWorld runs the tests of this binary in new namespaces and returns their
// status, or an error where there can be no such namespaces.
func inWorld() (int, error) {
	dir, err := os.MkdirTemp("", "ethos-clients-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "ethos-sandbox")
	build := exec.Command("go", "build", "-trimpath", "-o", program, "ethos/cmd/ethos-sandbox")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build ethos-sandbox: %v\n%s", err, out)
		return 1, nil
	}
	if err := os.Chmod(dir, 0o755); err != nil { // servers have users of their own
		return 0, err
	}
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), stageVariable+"=enter", programVariable+"="+program, "TMPDIR="+dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
		// Only these cross execve(2) for an ordinary user.
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN}
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
		return exit.ExitCode(), nil
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the tests in the world:", err)
		return 1, nil
	}
	return 0, nil
}

// enter makes the new namespaces the world and becomes the tests.
func enter() error {
	runtime.LockOSThread() // capabilities are those of a thread
	dir := os.TempDir()
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	if err := writeSettings(dir); err != nil {
		return err
	}
	for name := range worldFiles {
		if err := unix.Mount(filepath.Join(dir, filepath.Base(name)), name, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	// An ordinary user's servers have the ports that root's have, and the
	// world can be pinged by everyone: ip(7), icmp(7).
	for name, value := range map[string]string{"ip_unprivileged_port_start": "0", "ping_group_range": fmt.Sprint(os.Getgid(), os.Getgid())} {
		if err := os.WriteFile("/proc/sys/net/ipv4/"+name, []byte(value), 0); err != nil {
			return err
		}
	}
	if err := addAddresses(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	if err := os.Setenv(stageVariable, "inside"); err != nil {
		return err
	}
	return unix.Exec("/proc/self/exe", os.Args, os.Environ())
}

// worldFiles are the files of the world that its programs read.
var worldFiles = map[string]string{"/etc/resolv.conf": "nameserver 127.0.0.1\noptions timeout:2 attempts:1\n", "/etc/hosts": hostsFile}

// writeSettings writes the files of the world into a directory.
func writeSettings(dir string) error {
	for name, text := range worldFiles {
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// addAddresses gives the loopback interface the addresses of the world.
func addAddresses() error {
	var batch strings.Builder
	batch.WriteString("link set lo up\n")
	for _, address := range addresses {
		fmt.Fprintf(&batch, "address add %s dev lo nodad\n", address)
	}
	ip := exec.Command("ip", "-batch", "-")
	ip.Stdin = strings.NewReader(batch.String())
	if out, err := ip.CombinedOutput(); err != nil {
		return fmt.Errorf("ip: %w: %s", err, out)
	}
	return nil
}

// giveNetwork gives this network the addresses of the world, and writes its
// files into the directory for temporary files, with one more, "ready", at the
// end.
func giveNetwork() error {
	dir := os.TempDir()
	if err := errors.Join(addAddresses(), writeSettings(dir)); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "ready"), nil, 0o644)
}
