package plan

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/capability"
	"ethos/pkg/sandbox/kernel/mount"
)

// choices reads decisions from fuzz input; after its end it reads zeros.
type choices struct{ bytes []byte }

func (c *choices) below(n int) int {
	if len(c.bytes) == 0 {
		return 0
	}
	b := c.bytes[0]
	c.bytes = c.bytes[1:]
	return int(b) % n
}

// seeds are inputs of every length, so that a fuzzer has something of everything.
func seeds(f *testing.F) {
	f.Add([]byte{})
	for n := range 40 {
		input := make([]byte, 8+4*n)
		for i := range input {
			input[i] = byte(i*i*(n+3) + 7*n)
		}
		f.Add(input)
	}
}

// modelPaths are the paths that rules are made for: each has relatives of every kind among them.
var modelPaths = []string{"/a", "/a/b", "/a/b/c", "/a/b/c/d", "/a/bb", "/ab", "/e", "/e/f", "/e/f/g", "/h"}

// modelAccess is what the rules say about a path, from their meaning and not from a table: from the root down, each directory on the way changes what the one above it left.
func modelAccess(rules []rule, path string) Access {
	access := Hidden
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for n := range parts {
		at := "/" + strings.Join(parts[:n+1], "/")
		access = modelStep(rules, at, access)
	}
	return access
}

func modelStep(rules []rule, at string, above Access) Access {
	has := func(c class) bool {
		return slices.ContainsFunc(rules, func(r rule) bool { return r.path == at && r.class == c })
	}
	covered := slices.ContainsFunc(rules, func(r rule) bool {
		return (r.class == grantRead || r.class == grantWrite) && (at == r.path || strings.HasPrefix(at, r.path+"/"))
	})
	access := above
	switch {
	case has(blank):
		return Hidden
	case has(denyRead) && !has(grantPrivate):
		return Hidden
	case has(grantWrite):
		access = ReadWrite
	case has(grantRead):
		access = ReadOnly
	case has(grantPrivate):
		return Private
	case has(allowWithinDeny) && above == Hidden && covered:
		access = ReadOnly
	}
	if has(denyWrite) && access == ReadWrite {
		access = ReadOnly
	}
	return access
}

// FuzzTable compares the path table with the model, at every path there is a rule about and below it.
func FuzzTable(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, input []byte) {
		c := &choices{input}
		var rules []rule
		for range c.below(14) {
			rules = append(rules, at(modelPaths[c.below(len(modelPaths))], class(c.below(int(blank)+1))))
		}
		entries := table(slices.Clone(rules))
		for _, p := range modelPaths {
			for _, path := range []string{p, p + "/x", p + "/x/y"} {
				if got, want := Covering(entries, path).Access, modelAccess(rules, path); got != want {
					t.Fatalf("%s is %s, and %s in the model: %s", path, got, want, ruleText(rules))
				}
			}
		}
		for i, e := range entries {
			if i > 0 && mount.Depth(e.Path) < mount.Depth(entries[i-1].Path) {
				t.Fatalf("%s comes after %s", e.Path, entries[i-1].Path)
			}
		}
	})
}

func ruleText(rules []rule) (text string) {
	for _, r := range rules {
		text += fmt.Sprintf("%s=%d ", r.path, r.class)
	}
	return text
}

// fuzzWords are what declared paths are put together of: names that are there, names that are not, and what has a meaning of its own.
var fuzzWords = []string{fakeWork, fakeHome, "/srv/data", "/srv", "/", "~", ".", "..", "src", ".git", ".git/hooks", ".claude", "out", "in", "deep", "file", "new", ".ssh", ".cache", "/usr", "/etc", "/proc", "/dev", "/tmp", "//", "?", "${HOME}", "$X", "\x00", "a b", "é"}

func (c *choices) path() string {
	var words []string
	for range 1 + c.below(3) {
		words = append(words, fuzzWords[c.below(len(fuzzWords))])
	}
	return strings.Join(words, "/")
}

func (c *choices) paths(most int) (list []string) {
	for range c.below(most + 1) {
		list = append(list, c.path())
	}
	return list
}

// world is one made of fuzz input instead of a seed.
func (c *choices) world() world {
	w := newWorld(uint64(c.below(64)))
	profiles := append(capability.ProfileNames(), "")
	w.spec.Asked = capability.OnProfile(profiles[c.below(len(profiles))])
	w.spec.ReadPaths, w.spec.WritePaths, w.spec.DenyReadPaths, w.spec.DenyWritePaths = c.paths(3), c.paths(3), c.paths(3), c.paths(3)
	w.spec.AllowReadWithinDeny, w.spec.CachePaths, w.spec.UnixSockets = c.paths(2), c.paths(2), c.paths(1)
	if c.below(4) == 1 {
		w.spec.Asked = capability.Recorded(w.spec.Set)
	}
	w.spec.RequiresEnv = c.below(4) == 1
	_ = w.spec.Flag("env", []string{"B", "A=b", "LD_PRELOAD=x", "=x", "PATH", "GIT_DIR"}[c.below(6)])
	w.spec.Environ = append(w.spec.Environ, "LD_PRELOAD=evil", "GIT_DIR=evil", "SECRET=evil")
	w.spec.Network.Mode = []string{"", "none", "loopback", "host", "proxy", "nonsense"}[c.below(6)]
	if c.below(8) == 1 {
		w.spec.Dir = filepath.Clean("/" + c.path())
	}
	return w
}

// FuzzBuild: whatever is declared, there is a refusal with its reason, or a plan in which what must hold holds.
func FuzzBuild(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, input []byte) {
		w := (&choices{input}).world()
		p, err := w.build()
		if err != nil {
			if refusal := (*Refusal)(nil); !errors.As(err, &refusal) || refusal.Code == "" || err.Error() == "" {
				t.Fatalf("%v is no refusal: %+v", err, w.spec)
			}
			return
		}
		again, err := w.build()
		if err != nil || again.Text() != p.Text() {
			t.Fatalf("built again it is another: %v", err)
		}
		w.invariants(t, p)
	})
}

// invariants are what holds for every plan.
func (w world) invariants(t *testing.T, p *Plan) {
	t.Helper()
	for _, path := range []string{"/", "/usr", "/usr/bin/sh", "/etc/passwd", "/proc/1/mem", "/sys", "/boot/x", fakeHome, "/home"} {
		if got, by := reachOf(p.Mounts, path); got == writes {
			t.Fatalf("%s can be written, by %s: %+v", path, by.Target, w.spec)
		}
	}
	for i, m := range p.Mounts {
		if filepath.Clean(m.Target) != m.Target || m.Target[0] != '/' || i > 0 && mount.Depth(m.Target) < mount.Depth(p.Mounts[i-1].Target) {
			t.Fatalf("mount %d, of %q, is out of order or no clean path: %+v", i, m.Target, w.spec)
		}
	}
	for _, name := range append(slices.Clone(protectedNames.Get()), gitProtected...) {
		for _, dir := range []string{fakeWork, fakeWork + "/.git"} {
			if got, by := reachOf(p.Mounts, dir+"/"+name); got == writes && w.tree.Has(dir+"/"+name) && (dir == fakeWork) == slices.Contains(protectedNames.Get(), name) {
				t.Fatalf("%s/%s can be written, by %s: %+v", dir, name, by.Target, w.spec)
			}
		}
	}
	for _, entry := range p.Env {
		if strings.HasPrefix(entry, "LD_PRELOAD=") || strings.HasPrefix(entry, "GIT_DIR=") || entry == "SECRET=evil" {
			t.Fatalf("environment: %s: %+v", entry, w.spec)
		}
	}
	if !slices.Contains(p.Namespaces, "user") || !slices.Contains(p.Namespaces, "pid") || (p.Network != "host") != slices.Contains(p.Namespaces, "network") {
		t.Fatalf("namespaces %v with network %s", p.Namespaces, p.Network)
	}
}
