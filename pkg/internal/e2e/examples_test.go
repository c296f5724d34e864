package e2e

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/shorttest"
)

// checkers are the examples that run `go vet` through the pipe, each as its own tool runs it. The same example must
// succeed on sound code and fail on a defect.
var checkers = map[string]struct {
	setUp func(t *testing.T, s *session)
	run   string
}{
	"makefile": {func(t *testing.T, s *session) {
		s.write("Makefile", example(t, "makefile/Makefile"))
	}, "make check"},
	"git hook": {func(t *testing.T, s *session) {
		s.write(".git/hooks/pre-commit", example(t, "git-hook/pre-commit"))
		s.shell("chmod +x .git/hooks/pre-commit").mustSucceed(t)
	}, "git commit -q -m message"},
	"lefthook": {func(t *testing.T, s *session) {
		lefthook := client(t, "lefthook")
		s.write("lefthook.yml", example(t, "lefthook/lefthook.yml"))
		s.env = append(s.env, "LEFTHOOK_PROGRAM="+lefthook)
	}, `"$LEFTHOOK_PROGRAM" run pre-commit`},
	"pre-commit": {func(t *testing.T, s *session) {
		probetest.Need(t, "command:pre-commit")
		s.write(".pre-commit-config.yaml", example(t, "pre-commit/.pre-commit-config.yaml"))
		s.env = append(s.env, "PRE_COMMIT_HOME="+t.TempDir())
	}, "pre-commit run --all-files"},
	"github actions": {func(t *testing.T, s *session) {
		s.configure("sandbox: {read_paths: [\"~/sdk?\"]}\n")
		s.write("steps.sh", workflow(t, s))
	}, "bash -eo pipefail steps.sh"},
}

func TestCheckers(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:make")
	for name, c := range shorttest.SampleMap(checkers, 3) {
		t.Run(name, func(t *testing.T) {
			s := newSession(t)
			c.setUp(t, s)
			s.goModule(false)
			s.shell(c.run).mustSucceed(t)
			s.goModule(true)
			if o := s.shell(c.run); o.status == 0 || !strings.Contains(o.stdout+o.stderr, "small.go:5") {
				t.Errorf("go vet finds a defect, but: %v", o)
			}
		})
	}
}

// workflow is the script of the steps that a GitHub runner would execute, in order.
func workflow(t *testing.T, s *session) string {
	t.Helper()
	var file struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Run string }
		}
	}
	if err := yaml.Unmarshal([]byte(example(t, "github-actions/ethos.yml")), &file); err != nil {
		t.Fatal(err)
	}
	var script, left []string
	for _, step := range file.Jobs["vet"].Steps {
		switch {
		case strings.Contains(step.Run, "sudo "):
			left = append(left, step.Name)
		case step.Run != "":
			script = append(script, step.Run)
		}
	}
	if !slices.Equal(left, []string{"Allow user namespaces"}) || len(script) != 3 {
		t.Fatalf("steps left out: %q; run: %q", left, script)
	}
	s.runner()
	// Between two steps the runner takes over what was added to GITHUB_PATH.
	return strings.Join(script, "\nPATH=\"$(cat \"$GITHUB_PATH\"):$PATH\"\n")
}

// configure gives the repository a configuration that a person has read.
func (s *session) configure(text string) {
	s.write("repo_config.yaml", text)
	s.env = append(s.env, fmt.Sprintf("DIGEST=sha256:%x", sha256.Sum256([]byte(text))))
}

// TestWorkflowStopsAtAnotherConfiguration: a pull request that changes what the
// file widens ends the workflow before anything runs by it.
func TestWorkflowStopsAtAnotherConfiguration(t *testing.T) {
	probetest.Whole(t)
	probetest.Need(t, "command:make")
	s := newSession(t)
	s.configure("sandbox: {read_paths: [\"~/sdk?\"]}\n")
	s.write("steps.sh", workflow(t, s))
	s.goModule(false)
	s.write("repo_config.yaml", "sandbox: {read_paths: [\"~/other?\"]}\n")
	if o := s.shell("bash -eo pipefail steps.sh"); o.status != 1 || !strings.Contains(o.stderr, "does not have the expected content") || strings.Contains(o.stdout, "go vet") {
		t.Error(o)
	}
}

// runner makes the session look like a GitHub runner with ethos checked out beside the code. Build caches stay warm.
func (s *session) runner() {
	s.t.Helper()
	if err := os.Symlink(root(), filepath.Join(s.dir, ".ethos")); err != nil {
		s.t.Fatal(err)
	}
	s.write(".git/info/exclude", ".ethos\n")
	caches := s.shell("go env GOCACHE GOMODCACHE").mustSucceed(s.t).lines()
	home := s.t.TempDir()
	s.env = append(s.env, "HOME="+home, "GITHUB_PATH="+filepath.Join(home, "path"), "GITHUB_STEP_SUMMARY="+filepath.Join(home, "summary"), "BUILD="+s.t.TempDir(),
		"GOCACHE="+caches[0], "GOMODCACHE="+caches[1])
}
