package gitrepo

import (
	"os"
	"testing"
)

func TestHooks(t *testing.T) {
	s := newSandbox(t)
	s.repository("r")
	hooks := func() (names string) {
		list, err := s.open("r").Hooks()
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range list {
			if len(h.SHA256) != 64 {
				t.Errorf("%+v", h)
			}
			names += h.Name + " "
		}
		return names
	}
	if got := hooks(); got != "" {
		t.Errorf("a new repository has %q", got)
	}
	s.write("r/.git/hooks/pre-commit", "x")
	s.write("r/.git/hooks/post-commit", "x")
	if err := os.Chmod(s.path("r/.git/hooks/pre-commit"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := hooks(); got != "pre-commit " {
		t.Errorf("with one that can be executed: %q", got)
	}
	plain, _ := s.open("r").Hooks()
	if err := os.Rename(s.path("r/.git/hooks/pre-commit"), s.path("r/hook")); err != nil {
		t.Fatal(err)
	}
	link(t, "../../hook", s.home, "r/.git/hooks/pre-commit")
	linked, _ := s.open("r").Hooks()
	if len(linked) != 1 || linked[0].SHA256 == plain[0].SHA256 {
		t.Errorf("as a link: %v", linked)
	}
	s.git("r", "config", "core.hooksPath", "elsewhere")
	if got := hooks(); got != "" {
		t.Errorf("with hooks in another place: %q", got)
	}
	s.write("r/elsewhere/commit-msg", "x")
	s.write("own/update", "x")
	for _, hook := range []string{"r/elsewhere/commit-msg", "own/update"} {
		if err := os.Chmod(s.path(hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if got := hooks(); got != "commit-msg " {
		t.Errorf("in the place that the repository names: %q", got)
	}
	s.git("r", "config", "core.hooksPath", "~/own")
	if got := hooks(); got != "update " {
		t.Errorf("in a place of the user's that the repository names: %q", got)
	}
	s.git("r", "config", "--unset", "core.hooksPath")
	s.git("r", "config", "--global", "core.hooksPath", s.path("own"))
	if got := hooks(); got != "" {
		t.Errorf("in the user's own place: %q", got)
	}
	s.git("r", "config", "--global", "core.hooksPath", "elsewhere")
	if got := hooks(); got != "commit-msg " {
		t.Errorf("in the work tree, as the user says: %q", got)
	}
}
