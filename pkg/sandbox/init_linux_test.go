package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"ethos/pkg/capability"
	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/steps"
)

// TestSecurebits: no capability comes back by a change of ids, and none of the bits can be undone. Nothing in /proc shows them.
func TestSecurebits(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	spec := script(t, "./test -test.run='^TestCall$' securebits")
	mustRun(t, exec.Command("cp", self, spec.Workspace+"/test"))
	if got := execute(t, spec); got.err != nil || got.ExitCode != 0 {
		t.Errorf("%v, status %d: %s%s", got.err, got.ExitCode, got.Stdout.Text, got.Stderr.Text)
	}
}

// TestInitAlone: without Landlock, and where init keeps no capability, it is still closed to the command: it is not dumpable.
func TestInitAlone(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	// A program that was started as another user has left this process not dumpable, when there was one: it shared its memory until it was executed, commit_creds in kernel/cred.c.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	spec := script(t, "cat /proc/self/maps > /dev/null || exit 8; cat /proc/1/maps; ls /proc/1/root/; cat /proc/1/environ")
	spec.Asked = capability.OnProfile("lint-offline") // nothing to clean up
	said, status := unverified(t, mustBuild(t, spec), func(s *steps.Step) {
		if s.Call == "landlock_restrict_self" {
			s.Nr, s.Want = unix.SYS_GETPID, 0
		}
	})
	if status == 0 || status == 8 || strings.Count(said, "denied") != 3 {
		t.Errorf("status %d: %s", status, said)
	}
}

// TestInitDescriptors looks at init from outside: of what its parent had open it keeps nothing.
func TestInitDescriptors(t *testing.T) {
	probetest.Need(t, probetest.Root, probetest.UserNS)
	leaked := filepath.Join(t.TempDir(), "leaked")
	fd, err := unix.Open(leaked, unix.O_RDWR|unix.O_CREAT, 0o600) // inherited, not closed on exec
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	spec := script(t, "echo up; while test ! -e go; do sleep 0.05; done")
	looked := false
	out, _, err := RunCaptured(t.Context(), mustBuild(t, spec), func(string, []byte) {
		looked = true
		for _, dir := range initDirs(t) {
			for _, name := range names(t, dir+"/fd") {
				if link, err := os.Readlink(dir + "/fd/" + name); err == nil && link == leaked {
					t.Errorf("%s/fd/%s is %s", dir, name, link)
				}
			}
		}
		write(t, spec.Workspace+"/go", "")
	})
	if err != nil || out.ExitCode != 0 || !looked {
		t.Errorf("%v, status %d, looked %v", err, out.ExitCode, looked)
	}
}

// initDirs are the directories in /proc of the inits that this process has started.
func initDirs(t *testing.T) (list []string) {
	t.Helper()
	children, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(children) == 0 {
		t.Fatalf("no children: %v", err)
	}
	for _, file := range children {
		text, _ := os.ReadFile(file) // of a thread that may have ended
		for pid := range strings.FieldsSeq(string(text)) {
			if name, err := os.ReadFile("/proc/" + pid + "/comm"); err == nil && strings.TrimSpace(string(name)) == steps.InitName {
				list = append(list, "/proc/"+pid)
			}
		}
	}
	if len(list) == 0 {
		t.Error("no init is there")
	}
	return list
}

// withMounts runs the rest of a test as root of a mount namespace of its own, in
// which all mounts have one propagation: mount_namespaces(7).
func withMounts(t *testing.T, propagation uintptr, body func()) {
	t.Helper()
	probetest.Need(t, probetest.Root, probetest.UserNS)
	const inside = "ETHOS_TEST_MOUNTS"
	if os.Getenv(inside) != "" {
		if err := unix.Mount("", "/", "", unix.MS_REC|propagation, ""); err != nil {
			t.Fatal(err)
		}
		body()
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("%v\n%s", err, out)
	}
}

// mountAt mounts a tmpfs, with a file in it.
func mountAt(t *testing.T, dir string) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=777"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	write(t, dir+"/f", "kept\n")
}

// TestSubmounts: what the host has mounted in a tree that is declared readable is seen, and cannot be written either.
func TestSubmounts(t *testing.T) {
	withMounts(t, unix.MS_PRIVATE, func() {
		dir := t.TempDir()
		if err := os.Mkdir(dir+"/sub", 0o755); err != nil {
			t.Fatal(err)
		}
		mountAt(t, dir+"/sub")
		spec := script(t, "cat "+dir+"/sub/f; echo x > "+dir+"/sub/new")
		spec.ReadPaths = []string{dir}
		got := execute(t, spec)
		if got.err != nil || got.ExitCode == 0 || got.Stdout.Text != "kept\n" || len(names(t, dir+"/sub")) != 1 {
			t.Errorf("%v, status %d: %s%s", got.err, got.ExitCode, got.Stdout.Text, got.Stderr.Text)
		}
	})
}

// TestSharedMounts: on a machine whose mounts are shared, as systemd has them,
// what the host mounts in the work space while a command runs there is not
// mounted inside; what it had mounted before is.
func TestSharedMounts(t *testing.T) {
	withMounts(t, unix.MS_SHARED, func() {
		spec := script(t, "test -e before/f && test ! -e later/f")
		before, later := filepath.Join(spec.Workspace, "before"), filepath.Join(spec.Workspace, "later")
		if err := errors.Join(os.Mkdir(before, 0o755), os.Mkdir(later, 0o755)); err != nil {
			t.Fatal(err)
		}
		mountAt(t, before)
		release, done := started(t, spec)
		mountAt(t, later)
		release()
		if r := <-done; r.err != nil || r.Status != record.StatusExited || r.ExitCode != 0 {
			t.Errorf("%v %s %d", r.err, r.Status, r.ExitCode)
		}
	})
}
