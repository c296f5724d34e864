package e2e

import (
	"os"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// TestFreshHomeKeepsCaches: a build cache that is not there outside is kept for later runs, and
// nothing appears in the home directory.
func TestFreshHomeKeepsCaches(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := shellSession(t)
	s.env = append(s.env, "XDG_STATE_HOME="+t.TempDir())
	const add, look = "ethos-sandbox run -- sh -c 'mkdir -p ~/.cache/go-build && echo kept > ~/.cache/go-build/file'", "ethos-sandbox run -- sh -c 'cat ~/.cache/go-build/file'"
	s.shell(add).mustSucceed(t)
	if o := s.shell(look).mustSucceed(t); o.stdout != "kept\n" {
		t.Error(o)
	}
	if o := s.shell("ethos-sandbox cache ls").mustSucceed(t); !strings.Contains(o.stdout, "go-build") || strings.Contains(o.stdout, "npm") {
		t.Error(o)
	}
	if s.exists("~/.cache") {
		t.Error("the cache was created in the home directory")
	}
	if err := os.Mkdir(s.path("~/.cache"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/nowhere", s.path("~/.cache/go-build")); err != nil {
		t.Fatal(err)
	}
	if o := s.shell(look); o.status == 0 {
		t.Errorf("a link that leads nowhere is a cache: %v", o)
	}
	os.Remove(s.path("~/.cache/go-build"))
	s.write("~/.cache/go-build", "a file")
	if o := s.shell(look); o.status == 0 {
		t.Errorf("a file is a cache: %v", o)
	}
}
