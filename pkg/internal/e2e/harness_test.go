package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/internal/released"
	"ethos/pkg/shorttest"
)

var programs = []string{"ethos-facts", "ethos-decide", "ethos-sandbox", "ethos-trace", "ethos-git"}

// bin is the folder of the programs, built on first use; built is its name from then on.
var (
	bin   = sync.OnceValues(build)
	built string
)

func TestMain(m *testing.M) {
	shorttest.Only(
		"TestReadme", "TestMatches", "TestReadmeRecipes", "TestManuals", "TestEveryProgramAnswers", "TestNothingAtStart",
		"TestDenialNamesPolicyAndRemedy", "TestEditedRecordDoesNotRun", "TestEditedVerdictDoesNotRun",
		"TestUndecidedRecordDoesNotRun", "TestUnknownMembersPassEveryStage", "TestNothingIsLeftInTheWorkspace", "TestEmptyInputIsNotAllowed",
		"TestErrorsTravel", "TestReaderGoesAway", "TestRecipes", "TestConfinedOnce", "TestConfinedAgent", "TestHookRecords",
		"TestShellDecides",
		"TestNothingOfTheHost", "TestRecipesInside", "TestRunInside", "TestEvidenceInside", "TestStoreOutside", "TestPretendedBoundary",
	)
	m.Run()
	os.RemoveAll(built)
}

func build() (string, error) {
	dir, err := os.MkdirTemp("", "ethos-e2e-")
	if err != nil {
		return "", err
	}
	built = dir
	// An ordinary user inside a namespace must be able to reach the programs.
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", err
	}
	return dir, released.Build(dir)
}

// root is the repository. Tests run in their package's folder.
func root() string {
	dir, err := filepath.Abs(released.Root)
	if err != nil {
		panic(err) // the working directory was removed
	}
	return dir
}

// session is one user at work: a folder, a home, an environment.
type session struct {
	t    *testing.T
	dir  string
	home string // "" is the real one
	env  []string
}

// newSession begins in a new git repository. The home folder is the real one, so that build caches are warm.
func newSession(t *testing.T) *session {
	t.Helper()
	dir, err := bin()
	if err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, dir: t.TempDir()}
	probetest.Removable(t, s.dir)
	// Not /dev/null for git's settings: git config --global would put a file in its place.
	s.env = append(environ(), "XDG_STATE_HOME="+t.TempDir(), "PATH="+dir+":"+os.Getenv("PATH"), "GIT_CONFIG_GLOBAL="+filepath.Join(t.TempDir(), "gitconfig"), "GIT_CONFIG_NOSYSTEM=1")
	s.shell("git init -q -b main && git config user.name t && git config user.email t@example.invalid").mustSucceed(t)
	return s
}

// environ is the test's environment without what could change the programs under test.
func environ() []string {
	var kept []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "ETHOS_") && !strings.HasPrefix(pair, "GIT_") {
			kept = append(kept, pair)
		}
	}
	return kept
}

// path is where a file of the session is: in its folder, or for "~/" in its home.
func (s *session) path(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(s.home, rest)
	}
	return filepath.Join(s.dir, name)
}

// write puts a file into the session's folder.
func (s *session) write(name, content string) {
	s.t.Helper()
	path := s.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// exists reports whether a file of the session is there; "~/" is its home.
func (s *session) exists(name string) bool {
	_, err := os.Lstat(s.path(name))
	return err == nil
}

// outcome is what a command line left behind.
type outcome struct {
	command        string
	stdout, stderr string
	status         int // 128+n when ended by signal n
}

// shell runs a command line in bash, as a user would type it; a pipe fails when a part of it fails.
func (s *session) shell(script string) outcome { return s.feed("", script) }

// feed is shell with standard input.
func (s *session) feed(stdin, script string) outcome {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "bash", "-o", "pipefail", "-c", script)
	cmd.Dir, cmd.Env = s.dir, s.env
	cmd.Stdin = strings.NewReader(stdin)
	return finish(s.t, cmd)
}

func finish(t *testing.T, cmd *exec.Cmd) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &stdout
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &stderr
	}
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", cmd, err)
	}
	o := outcome{command: cmd.Args[len(cmd.Args)-1], stdout: stdout.String(), stderr: stderr.String()}
	o.status = statusOf(cmd.ProcessState)
	return o
}

func statusOf(state *os.ProcessState) int {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return state.ExitCode()
}

func (o outcome) String() string {
	return fmt.Sprintf("%s\nstatus %d\nstdout:\n%s\nstderr:\n%s", o.command, o.status, clip(o.stdout), clip(o.stderr))
}

func clip(s string) string {
	const most = 4000
	if len(s) > most {
		return s[:most] + fmt.Sprintf("… (%d bytes in all)", len(s))
	}
	return s
}

func (o outcome) mustSucceed(t *testing.T) outcome {
	t.Helper()
	if o.status != 0 {
		t.Fatal(o)
	}
	return o
}

func (o outcome) mustExit(t *testing.T, status int) outcome {
	t.Helper()
	if o.status != status {
		t.Fatalf("wanted status %d: %v", status, o)
	}
	return o
}

// lines are the lines of standard output.
func (o outcome) lines() []string {
	if o.stdout == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(o.stdout, "\n"), "\n")
}
