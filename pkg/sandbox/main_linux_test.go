package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ethos/pkg/capability"
	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/plan"
)

// Where ethos keeps what belongs to a work space.
const (
	ethosDir     = plan.EthosDir
	ownInGit     = ".git/coding-ethos"
	journalName  = plan.JournalName
	insideTraces = plan.InsideTraces
)

// ordinary is the user that the tests run as once more when they run as root.
const ordinary = 65534

// twice runs the test's body as the user who runs the tests, and for root once more, as an ordinary user, in a process of its own, unless probetest.OneUser is set.
func twice(t *testing.T, body func(t *testing.T)) {
	probetest.Need(t, probetest.UserNS)
	if os.Getenv(probetest.OneUser) != "" || os.Geteuid() != 0 {
		body(t)
		return
	}
	t.Run("root", body)
	t.Run("user", func(t *testing.T) {
		dir, err := os.MkdirTemp("", "ethos-user-")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		exe := filepath.Join(dir, "test")
		mustRun(t, exec.Command("cp", self, exe))
		if err := errors.Join(os.Chmod(exe, 0o755), os.Chmod(dir, 0o777)); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe, "-test.run=^"+strings.Split(t.Name(), "/")[0]+"$", "-test.v", "-test.count=1", fmt.Sprintf("-test.short=%t", testing.Short()))
		cmd.Env = append(os.Environ(), probetest.OneUser+"=1", "TMPDIR="+dir, "HOME="+dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: "+strings.Split(t.Name(), "/")[0]) {
			t.Fatalf("as user %d: %v\n%s", ordinary, err, out)
		}
		t.Logf("as user %d:\n%s", ordinary, out)
	})
}

func mustRun(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}

// workspace is a directory for one run, with a home directory beside it.
func workspace(t testing.TB) (dir string, environ []string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(base, "w")
	for _, d := range []string{dir, filepath.Join(base, "home")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir, []string{"HOME=" + filepath.Join(base, "home"), "PATH=/usr/bin:/bin", "LANG=C"}
}

// script is a spec that runs a shell script in a work space.
func script(t testing.TB, text string) Spec {
	t.Helper()
	dir, environ := workspace(t)
	return Spec{Asked: capability.OnProfile(""), Argv: []string{"sh", "-c", text}, Dir: dir, Workspace: dir, Environ: environ, NewSession: true, CloseStdin: true}
}

func mustBuild(t testing.TB, spec Spec) *Plan {
	t.Helper()
	plan, err := Build(spec, HostFiles{}, os.Geteuid())
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// result is what a run in a test came to.
type result struct {
	Outcome
	record.Capture
	err error
}

func execute(t *testing.T, spec Spec) result {
	t.Helper()
	out, got, err := RunCaptured(context.Background(), mustBuild(t, spec), nil)
	return result{out, got, err}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// covering is the entry of a plan's table that a path lies in.
var covering = plan.Covering
