package gitrepo

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// sandbox is a home directory of its own with a git that reads nothing else.
type sandbox struct {
	t    *testing.T
	home string
}

func newSandbox(t *testing.T) sandbox {
	t.Helper()
	probetest.Need(t, "command:git")
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := sandbox{t: t, home: home}
	s.write(".gitconfig", "[user]\n\tname = A\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n")
	return s
}

func (s sandbox) path(name string) string { return filepath.Join(s.home, name) }

func (s sandbox) write(name, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(s.path(name)), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(s.path(name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// git runs git in dir, a path below the home, and returns its output.
func (s sandbox) git(dir string, args ...string) string {
	s.t.Helper()
	out, err := s.try(dir, args...)
	if err != nil {
		s.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return out
}

func (s sandbox) try(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = s.path(dir)
	cmd.Env = []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

func (s sandbox) options() Options { return Options{Home: s.home} }

func (s sandbox) open(dir string) *Repository {
	s.t.Helper()
	r, err := Open(s.path(dir), s.options())
	if err != nil {
		s.t.Fatalf("open %s: %v", dir, err)
	}
	return r
}

// commit makes a repository with one commit.
func (s sandbox) repository(dir string) {
	s.t.Helper()
	s.git("", "init", "-q", dir)
	s.write(dir+"/a", "a\n")
	s.git(dir, "add", "a")
	s.git(dir, "commit", "-qm", "a")
}

func lines(s string) []string {
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}
