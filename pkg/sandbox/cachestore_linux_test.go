package sandbox

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"ethos/pkg/capability"
)

// TestCachesApart: what a command with more or less than the work space puts into a cache is read by those that have the same, and by no other.
func TestCachesApart(t *testing.T) {
	spec := script(t, "")
	base := filepath.Dir(spec.Workspace)
	write(t, filepath.Join(base, "home/.npm/old"), "old\n")
	write(t, filepath.Join(base, "beside/file"), "beside\n")
	spec.Environ = append(spec.Environ, "TOKEN=secret")
	port := strconv.Itoa(freePort(t))
	has := map[string]func(*Spec){
		"the work space": func(*Spec) {},
		"reads alone":    func(s *Spec) { s.Asked = capability.OnProfile("lint-offline") },
		"a network":      func(s *Spec) { s.Network.Mode, s.Network.AllowDomains = "proxy", []string{"example.com"} },
		"another": func(s *Spec) {
			s.Network.Mode, s.Network.AllowDomains = "proxy", []string{"example.com", "example.net"}
		},
		"a variable": func(s *Spec) { s.Env.Pass = []string{"TOKEN"} },
		"both": func(s *Spec) {
			s.Env.Pass, s.Network.Mode, s.Network.AllowDomains = []string{"TOKEN"}, "proxy", []string{"example.com"}
		},
		"a path":         func(s *Spec) { s.ReadPaths = []string{filepath.Join(base, "beside")} },
		"to write":       func(s *Spec) { s.WritePaths = []string{filepath.Join(base, "beside")} },
		"less":           func(s *Spec) { s.DenyWritePaths = []string{filepath.Join(s.Workspace, "src?")} },
		"other less":     func(s *Spec) { s.DenyWritePaths = []string{filepath.Join(s.Workspace, "test?")} },
		"unread":         func(s *Spec) { s.DenyReadPaths = []string{filepath.Join(s.Workspace, "key?")} },
		"an environment": func(s *Spec) { s.EnvFiles = "read" },
		"a value":        func(s *Spec) { s.Env.Set = map[string]string{"TOKEN": "secret"} },
		"another value":  func(s *Spec) { s.Env.Set = map[string]string{"TOKEN": "other"} },
		"signatures":     func(s *Spec) { s.GitSigning = capability.SignOwn },
		"a port":         func(s *Spec) { s.Publish = []string{port + ":8080"} },
		"a debugger":     func(s *Spec) { s.Debug = true },
		"less to write":  func(s *Spec) { s.Asked = capability.OnProfile("lint-offline"); s.WritePaths = []string{"out?"} },
	}
	if os.Geteuid() != 0 { // root has none that work
		has["namespaces"] = func(s *Spec) { s.NestedUserns = capability.NestedNamespaces }
	}
	run := func(name, text string) string {
		t.Helper()
		one := spec
		one.Argv = []string{"sh", "-c", text}
		has[name](&one)
		r := execute(t, one)
		if r.err != nil || r.ExitCode != 0 {
			t.Fatalf("%s: %v %d %s", name, r.err, r.ExitCode, r.Stderr.Text)
		}
		return r.Stdout.Text
	}
	for name := range has {
		run(name, "echo x > ~/.npm/'"+name+"'")
	}
	for name := range has {
		if got, want := run(name, "ls ~/.npm | grep -v old"), name+"\n"; got != want {
			t.Errorf("what has %s meets %q", name, got)
		}
	}
}

// TestSharedCaches: what a command adds to a cache is seen by those that write the whole work space as it does, by no other, and outside by nobody;
// it is listed and removed, and what a run uses stays.
func TestSharedCaches(t *testing.T) {
	twice(t, func(t *testing.T) {
		spec := script(t, "mkdir -p ~/.npm/m/d && echo added > ~/.npm/m/d/f && chmod 555 ~/.npm/m/d ~/.npm/m")
		home := filepath.Join(filepath.Dir(spec.Workspace), "home")
		write(t, filepath.Join(home, ".npm/old"), "old\n")
		if r := execute(t, spec); r.err != nil || r.ExitCode != 0 {
			t.Fatalf("%v %d\n%s", r.err, r.ExitCode, r.Stderr.Text)
		}
		reads := func(profile, denied string) string {
			t.Helper()
			again := spec
			again.Asked, again.Argv = capability.OnProfile(profile), []string{"sh", "-c", "cat ~/.npm/old ~/.npm/m/d/f; true"}
			if denied != "" {
				again.DenyWritePaths = []string{denied}
			}
			r := execute(t, again)
			if r.err != nil {
				t.Fatal(r.err)
			}
			return strings.ReplaceAll(r.Stdout.Text, "\n", " ")
		}
		for _, c := range []struct{ profile, denied, want string }{
			{"workspace", "", "old added "}, {"build", "", "old added "}, {"test-loopback", "", "old added "}, {"agent-shell", "", "old added "}, {"debug", "", "old added "},
			{"lint-offline", "", "old "}, {"workspace", "src?", "old "},
		} {
			if got := reads(c.profile, c.denied); got != c.want {
				t.Errorf("%s %s: %q, want %q", c.profile, c.denied, got, c.want)
			}
		}
		if _, err := os.Lstat(filepath.Join(home, ".npm/m")); err == nil {
			t.Error("it is outside, too")
		}
		list, err := Caches(spec.Workspace)
		if err != nil || len(list) != 1 || list[0].Files != 3 || list[0].InUse || time.Since(list[0].Used) > time.Hour {
			t.Fatalf("%+v %v", list, err)
		}
		for _, c := range []struct {
			before time.Time
			keep   int64
			dry    bool
			want   int
		}{{time.Time{}, math.MaxInt64, false, 0}, {time.Now().Add(-time.Hour), math.MaxInt64, false, 0}, {time.Time{}, 1 << 30, false, 0}, {time.Time{}, 0, true, 1}} {
			if removed, err := PruneCaches(spec.Workspace, c.before, c.keep, c.dry); err != nil || len(removed) != c.want {
				t.Errorf("%+v: %+v %v", c, removed, err)
			}
		}
		spec.Argv = []string{"sh", "-c", "true"}
		release, done := started(t, spec)
		if removed, err := PruneCaches(spec.Workspace, time.Time{}, 0, false); err != nil || len(removed) != 0 {
			t.Errorf("in use: %+v %v", removed, err)
		}
		if release(); (<-done).err != nil {
			t.Error("the run failed")
		}
		if removed, err := PruneCaches(spec.Workspace, time.Now().Add(time.Second), math.MaxInt64, false); err != nil || len(removed) != 1 {
			t.Errorf("%+v %v", removed, err)
		}
		if list, err := Caches(spec.Workspace); err != nil || len(list) != 0 || reads("build", "") != "old " {
			t.Errorf("after it: %+v %v", list, err)
		}
	})
}

// TestHostileCaches: what lies in the place of a cache of ethos is neither followed nor removed.
func TestHostileCaches(t *testing.T) {
	twice(t, func(t *testing.T) {
		dir, _ := workspace(t)
		out := filepath.Join(filepath.Dir(dir), "out")
		write(t, filepath.Join(out, "0/upper/kept"), "kept")
		write(t, filepath.Join(dir, ".coding-ethos/cache/x-y-z/1"), "a file")
		for link, to := range map[string]string{"x-link": out, "x-y-z/0": out + "/0", "x-y-z/2": "/dev/null"} {
			if err := os.Symlink(to, filepath.Join(dir, ".coding-ethos/cache", link)); err != nil {
				t.Fatal(err)
			}
		}
		write(t, filepath.Join(dir, ".coding-ethos/cache/x-y-z/3/upper/f"), "twin")
		if err := os.Symlink(out+"/0/upper", filepath.Join(dir, ".coding-ethos/cache/x-y-z/3/upper/link")); err != nil {
			t.Fatal(err)
		}
		removed, err := PruneCaches(dir, time.Time{}, 0, false)
		if err != nil || len(removed) != 1 || filepath.Base(removed[0].Path) != "3" {
			t.Errorf("%+v %v", removed, err)
		}
		if _, err := os.Stat(filepath.Join(out, "0/upper/kept")); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(filepath.Join(dir, ".coding-ethos/cache/x-y-z/3/upper")); err == nil {
			t.Error("the twin is left")
		}
		if err := os.RemoveAll(filepath.Join(dir, ".coding-ethos")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(out, filepath.Join(dir, ".coding-ethos")); err != nil {
			t.Fatal(err)
		}
		if list, err := Caches(dir); err == nil {
			t.Errorf("through a link: %+v", list)
		}
	})
}
