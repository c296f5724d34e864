package escapes

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/internal/released"
	"ethos/pkg/sandbox"
	"ethos/pkg/shorttest"
)

// releasedProgram, set in the environment, is ethos-sandbox as it is released.
const releasedProgram = "ETHOS_TEST_RELEASED"

// ordinary is the user that the tests run as once more when they run as root.
const ordinary = 65534

// attackWord as the first argument makes this binary the attacker instead of a test.
const attackWord = "attack"

func TestMain(m *testing.M) {
	sandbox.ExecShim()
	if len(os.Args) > 1 && os.Args[1] == attackWord {
		os.Exit(attack(os.Args[2:]))
	}
	shorttest.Only(
		"TestEscapes", "TestProtectedByName", "TestDescriptors",
		"TestInjectingVariables", "TestEveryLayerIsAskedFor", "TestBackendsPage", "TestParse", "TestParseRefuses", "TestEnough",
	)
	os.Exit(m.Run())
}

// twice runs the test's body as the user who runs the tests, and for root once more, as an ordinary user, in a process of its own, unless probetest.OneUser is set.
// That one prints what the tests of its own would, so that a name means the same in both.
func twice(t *testing.T, body func(t *testing.T)) {
	probetest.Need(t, probetest.UserNS)
	if os.Geteuid() != 0 {
		t.Run("user", body)
		return
	}
	t.Run("root", body)
	if os.Getenv(probetest.OneUser) != "" {
		return
	}
	t.Run("user", func(t *testing.T) {
		t.Parallel()
		dir, err := os.MkdirTemp("", "ethos-user-")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		exe := filepath.Join(dir, "test")
		self, err := os.Executable()
		mine := filepath.Join(dir, "src")
		if err := errors.Join(err, released.Copy(exe, self), os.Chmod(exe, 0o755), os.MkdirAll(filepath.Join(mine, "pkg/internal/escapes"), 0o755), os.Mkdir(filepath.Join(mine, "testdata"), 0o755), os.Chmod(dir, 0o777)); err != nil {
			t.Fatal(err)
		}
		if err := released.Copy(filepath.Join(mine, "testdata"), casesDir); err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(t.Name(), "/")
		cmd := exec.Command(exe, "-test.run=^"+name+"$/^user$"+only(), "-test.v", "-test.count=1", fmt.Sprintf("-test.short=%t", testing.Short()))
		cmd.Dir = filepath.Join(mine, "pkg/internal/escapes")
		cmd.Env = append(os.Environ(), probetest.OneUser+"=1", "TMPDIR="+dir, "HOME="+dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
		out, err := cmd.CombinedOutput()
		passed := strings.Count(string(out), "--- PASS: "+name+"/user/")
		if err != nil || passed == 0 || !strings.Contains(string(out), "--- PASS: "+name+" ") {
			t.Fatalf("as user %d: %v\n%s", ordinary, err, out)
		}
		t.Logf("%d cases passed as user %d, %d skipped", passed, ordinary, strings.Count(string(out), "--- SKIP: "))
	})
}

// only is the part of -test.run that names single cases.
func only() string {
	if parts := strings.SplitN(flag.Lookup("test.run").Value.String(), "/", 3); len(parts) == 3 {
		return "/" + parts[2]
	}
	return ""
}

// buildReleased builds ethos-sandbox where every user can run it, unless another
// run of these tests has.
func buildReleased(t *testing.T) string {
	t.Helper()
	if built := os.Getenv(releasedProgram); built != "" {
		return built
	}
	dir, err := os.MkdirTemp("", "ethos-released-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := errors.Join(os.Chmod(dir, 0o755), released.Build(dir)); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "ethos-sandbox")
}
