package statedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"ethos/pkg/internal/probetest"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestDir(t *testing.T) {
	for _, c := range []struct{ state, home, want string }{
		{"", "/home/u", "/home/u/.local/state/ethos"},
		{"/var/state", "/home/u", "/var/state/ethos"},
		{"/var/state", "", "/var/state/ethos"},
		{"state", "/home/u", "/home/u/.local/state/ethos"}, // the specification: a relative path is ignored
		{"./state", "/home/u", "/home/u/.local/state/ethos"},
		{"/var/../srv/state/", "", "/srv/state/ethos"},
		{"", "", ""},
		{"", "home/u", ""},
		{"state", "", ""},
	} {
		got, err := Dir(env("XDG_STATE_HOME", c.state, "HOME", c.home))
		if got != c.want || (err != nil) != (c.want == "") || err != nil && !errors.Is(err, ErrUnusable) {
			t.Errorf("XDG_STATE_HOME=%q HOME=%q: %q, %v; want %q", c.state, c.home, got, err, c.want)
		}
		if (Hint(err) != "") != (err != nil) {
			t.Errorf("%v: hint %q", err, Hint(err))
		}
	}
}

func TestMake(t *testing.T) {
	base := filepath.Join(t.TempDir(), "a/b")
	getenv := env("XDG_STATE_HOME", base)
	if _, err := Open(getenv, "trust"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before it was made: %v", err)
	}
	for range 2 {
		dir, err := Make(getenv, "trust", "x")
		if err != nil || dir != filepath.Join(base, "ethos/trust/x") {
			t.Fatalf("%q, %v", dir, err)
		}
	}
	for _, dir := range []string{"ethos", "ethos/trust", "ethos/trust/x"} {
		info, err := os.Stat(filepath.Join(base, dir))
		if err != nil || info.Mode() != fs.ModeDir|0o700 {
			t.Errorf("%s: %v %v", dir, info, err)
		}
	}
	if dir, err := Open(getenv, "trust"); err != nil || dir != filepath.Join(base, "ethos/trust") {
		t.Errorf("%q, %v", dir, err)
	}
}

// TestUnusable: each is an error on reading as on writing, and none is taken
// for a folder in which nothing is kept.
func TestUnusable(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"a file":              func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"a link":              func(dir string) error { return errors.Join(os.Mkdir(dir+"2", 0o700), os.Symlink(dir+"2", dir)) },
		"a link to nothing":   func(dir string) error { return os.Symlink("/nonexistent", dir) },
		"writable by a group": func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o770)) },
		"writable by all":     func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o707)) },
		"somebody else's":     func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, 12345, 12345)) },
	} {
		for _, at := range []string{"ethos", "ethos/trust"} {
			t.Run(name+" as "+at, func(t *testing.T) {
				base := t.TempDir()
				if err := os.MkdirAll(filepath.Dir(filepath.Join(base, at)), 0o700); err != nil {
					t.Fatal(err)
				}
				if name == "somebody else's" {
					probetest.Need(t, probetest.Root) // chown(2)
				}
				if err := spoil(filepath.Join(base, at)); err != nil {
					t.Fatal(err)
				}
				for what, call := range map[string]func(func(string) string, ...string) (string, error){"open": Open, "make": Make} {
					dir, err := call(env("XDG_STATE_HOME", base), "trust")
					if !errors.Is(err, ErrUnusable) || errors.Is(err, fs.ErrNotExist) || dir != "" {
						t.Errorf("%s: %q, %v", what, dir, err)
					}
				}
			})
		}
	}
}
