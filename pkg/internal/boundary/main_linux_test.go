package boundary

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/internal/released"
	"ethos/pkg/shorttest"
)

// lackWord as the first argument makes this binary take something away before it becomes another program; see lack.
const lackWord = "lacking"

// programsVariable names a folder with the programs where they cannot be built, as in a container.
const programsVariable = "ETHOS_TEST_PROGRAMS"

// program is ethos-sandbox as it is released, built on first use; built is its folder from then on.
var (
	program = sync.OnceValues(build)
	built   string
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == lackWord {
		fmt.Fprintln(os.Stderr, "lacking:", withLacks(os.Args[2:]))
		os.Exit(2)
	}
	shorttest.Only(
		"TestEntry", "TestPrefork", "TestPreforkInherits", "TestPreforkEnds", "TestClosedStreams", "TestKilled", "TestTerminated", "TestAlone",
		"TestCallsConfined", "TestSessionIsOneBoundary", "TestSessionCommandCannotWrite",
		"TestSessionCommandCannotRead", "TestSessionCommandHasNoNetwork", "TestSessionPlain",
		"TestWorkerLines", "TestWorkerBoundary", "TestRootWithoutCapabilities",
	)
	status := m.Run()
	os.RemoveAll(built)
	os.Exit(status)
}

func build() (string, error) {
	if dir := os.Getenv(programsVariable); dir != "" {
		return filepath.Join(dir, "ethos-sandbox"), nil
	}
	dir, err := os.MkdirTemp("", "ethos-boundary-")
	if err != nil {
		return "", err
	}
	built = dir
	return filepath.Join(dir, "ethos-sandbox"), errors.Join(os.Chmod(dir, 0o755), released.Build(dir)) // another user may run them
}

// space is a work space with a home directory beside it.
func space(t *testing.T) string {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(base, "w")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Mkdir(filepath.Join(base, "home"), 0o755)); err != nil {
		t.Fatal(err)
	}
	probetest.Removable(t, base)
	return dir
}

// sandboxed is ethos-sandbox with args in a work space.
func sandboxed(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + filepath.Join(filepath.Dir(dir), "home"), "LANG=C.UTF-8", "SHELL=/bin/sh"}
	return cmd
}
