package cgroup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
)

var need = Limits{MemoryBytes: 1 << 20, CPUPercent: 100, Pids: 10}.Controllers()

const user = 1000

func (k *kernel) caller() Caller { return Caller{Files: k, PID: k.self, UID: k.uid} }

func TestDiscover(t *testing.T) {
	session := []string{"/user.slice", "/user.slice/session-1.scope"}
	delegated := []string{"/d:1000:cpu,memory,pids", "/d/me:1000"}
	for _, c := range []struct {
		name  string
		k     *kernel
		with  func(*kernel, *Caller)
		path  string // "" for none
		found string
		words []string // in the reasons, or in the hint
	}{
		{name: "own cgroup, alone in it", k: newKernel(user, "/d/me", delegated...), path: "/d/me", found: "own cgroup"},
		{name: "own cgroup with others in it, and a parent", k: newKernel(user, "/d/me", delegated...),
			with: func(k *kernel, _ *Caller) { k.groups["/d/me"].procs = []string{"100", "101"} }, path: "/d", found: "parent cgroup"},
		{name: "a parent without the controllers switched on", k: newKernel(user, "/e/d/me", "/e::cpu,memory,pids", "/e/d:1000", "/e/d/me:1000"),
			path: "/e/d", found: "parent cgroup"},
		{name: "session of an ordinary user", k: newKernel(user, "/user.slice/session-1.scope", session...),
			words: []string{"own cgroup", "has no memory controller", "belongs to user 0", "systemd-run --user"}},
		{name: "session of an ordinary user with a manager", k: newKernel(user, "/user.slice/session-1.scope", session...),
			with: withScope, path: "/user.slice/app/ethos-1.scope", found: "systemd scope"},
		{name: "own cgroup with others in it, and nothing else", k: newKernel(user, "/d/me", "/d:0:cpu,memory,pids", "/d/me:1000"),
			with: func(k *kernel, _ *Caller) { k.groups["/d/me"].procs = []string{"100", "101"} }, words: []string{"/d/me has 1 other processes"}},
		{name: "own cgroup of another user", k: newKernel(user, "/d/me", "/d:0:cpu,memory,pids", "/d/me"), words: []string{"/d/me is not the caller's to write"}},
		{name: "a manager that refuses", k: newKernel(user, "/user.slice/session-1.scope", session...),
			with: func(_ *kernel, c *Caller) {
				c.Scope = func(context.Context, int) error { return errors.New("access denied") }
			},
			words: []string{"systemd scope: access denied"}},
		{name: "an ordinary user at the top", k: newKernel(user, ""), words: []string{"it is the top of the hierarchy, which belongs to root"}},
		{name: "root in a session", k: newKernel(0, "/user.slice/session-1.scope", session...),
			with: func(k *kernel, _ *Caller) { k.groups["/user.slice/session-1.scope"].procs = []string{"99", "100"} },
			path: "/ethos", found: "top of the hierarchy"},
		{name: "root alone in a service that systemd manages", k: newKernel(0, "/s/a.service", "/s::cpu,memory,pids", "/s/a.service"),
			with: func(k *kernel, _ *Caller) { k.proc["/run/systemd/system/"] = "" }, path: "/ethos", found: "top of the hierarchy"},
		{name: "root alone in a service that is delegated", k: newKernel(0, "/s/a.service", "/s::cpu,memory,pids", "/s/a.service"),
			with: func(k *kernel, _ *Caller) {
				k.proc["/run/systemd/system/"] = ""
				k.groups["/s/a.service"].xattr = map[string]string{"trusted.delegate": "1"}
			}, path: "/s/a.service", found: "own cgroup"},
		{name: "root at the top", k: newKernel(0, ""), path: "/ethos", found: "top of the hierarchy"},
		{name: "root at the top with nothing switched on", k: newKernel(0, ""), with: func(k *kernel, _ *Caller) { k.groups[""].subtree = nil },
			path: "/ethos", found: "top of the hierarchy"},
		{name: "a read-only mount", k: newKernel(0, "/c", "/c"), with: func(k *kernel, _ *Caller) {
			k.fault = func(op, name string) error {
				if op == "access" || op == "write" || op == "mkdir" {
					return syscall.EROFS
				}
				return nil
			}
		}, words: []string{"read-only file system", "mount the cgroup v2 file system writable"}},
		{name: "a delegation without io, which only measures", k: newKernel(user, "/d/me", "/d:1000:cpu,memory,pids", "/d/me:1000"),
			with: func(k *kernel, _ *Caller) { k.groups[""].subtree = []string{"cpu", "memory", "pids"} }, path: "/d/me", found: "own cgroup"},
		{name: "a delegation without cpu", k: newKernel(user, "/d/me", "/d:1000:memory,pids", "/d/me:1000"),
			with: func(k *kernel, _ *Caller) { k.groups[""].subtree = []string{"memory", "pids"} }, words: []string{"/d/me has no cpu controller (it has: memory pids)"}},
		{name: "outside of the cgroup namespace", k: newKernel(user, "/d/me", delegated...),
			with: func(k *kernel, _ *Caller) {
				k.proc["/proc/self/mountinfo"] = "30 22 0:27 /elsewhere /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
			}, words: []string{"is not below the mount at /sys/fs/cgroup"}},
		{name: "only v1", k: newKernel(0, ""), with: mounts("31 22 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"),
			words: []string{"cgroup v1 is not supported, and v2 is not mounted", "systemd.unified_cgroup_hierarchy=1"}},
		{name: "hybrid", k: newKernel(0, ""), with: mounts("31 22 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n30 22 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"),
			words: []string{"cgroup v1 is not supported, and the memory controller is on v1 (v2 is mounted at /sys/fs/cgroup/unified without it)"}},
		{name: "nothing mounted", k: newKernel(0, ""), with: mounts("22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"), words: []string{"no cgroup v2 file system is mounted"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			caller := c.k.caller()
			if c.with != nil {
				c.with(c.k, &caller)
			}
			d, err := Discover(t.Context(), caller, need)
			if c.path == "" {
				refused(t, c.k, err, c.words)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d.Path != "/sys/fs/cgroup"+c.path || d.Found != c.found {
				t.Errorf("found %s (%s), want %s (%s)", d.Path, d.Found, c.path, c.found)
			}
			works(t, c.k, d)
		})
	}
}

// refused wants an Unavailable with the words, and that nothing was changed on the way to it.
func refused(t *testing.T, k *kernel, err error, words []string) {
	t.Helper()
	var u *Unavailable
	if !errors.As(err, &u) {
		t.Fatalf("error %v, want an Unavailable", err)
	}
	if len(u.Reasons) == 0 || u.Hint == "" {
		t.Errorf("no reason or no hint: %+v", u)
	}
	for _, word := range words {
		if text := u.Error() + " hint: " + u.Hint; !strings.Contains(text, word) {
			t.Errorf("%q does not hold %q", text, word)
		}
	}
	if len(k.log) > 0 {
		t.Errorf("changed before it was known that nothing can be had: %q", k.log)
	}
}

// works makes a leaf with every limit in the delegation, removes it, closes, and wants the tree as it was.
func works(t *testing.T, k *kernel, d *Delegation) {
	t.Helper()
	leaf, err := d.NewLeaf(Limits{MemoryBytes: 10<<20 + 1, CPUPercent: 250, Pids: 20})
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"memory.max": "10485760", "memory.swap.max": "0", "memory.oom.group": "1", "cpu.max": "250000 100000", "pids.max": "20"} {
		if got, err := k.ReadFile(leaf.Path + "/" + file); err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("%s holds %q (%v), want %q", file, got, err, want)
		}
	}
	if err := leaf.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	for id := range k.groups {
		if strings.Contains(id, supervisor) || strings.Contains(id, "/run-") || id == "/"+topGroup {
			t.Errorf("%s is left behind", id)
		}
	}
	if len(k.locks) > 0 {
		t.Errorf("locks are left: %v", k.locks)
	}
}

func mounts(text string) func(*kernel, *Caller) {
	return func(k *kernel, _ *Caller) { k.proc["/proc/self/mountinfo"] = text }
}

// withScope is a systemd manager that makes a scope: what it does to the tree is what a real one does.
func withScope(k *kernel, c *Caller) {
	c.Scope = func(_ context.Context, pid int) error {
		k.mu.Lock()
		defer k.mu.Unlock()
		if pid != k.self {
			return fmt.Errorf("pid %d", pid)
		}
		k.groups["/user.slice"].subtree = slices.Clone(allControllers)
		k.groups["/user.slice/app"] = &group{owner: k.uid, subtree: []string{"cpu", "memory", "pids"}}
		k.groups["/user.slice/session-1.scope"].procs = nil
		k.groups["/user.slice/app/ethos-1.scope"] = &group{owner: k.uid, procs: []string{"100"}}
		return nil
	}
}

// TestDiscoverFaults fails each operation in turn: the caller must be where it was, and nothing left behind.
func TestDiscoverFaults(t *testing.T) {
	for n := range 200 {
		k := newKernel(user, "/d/me", "/d:1000:cpu,memory,pids", "/d/me:1000")
		count, injected := 0, ""
		k.fault = func(op, name string) error {
			count++
			if count == n+1 {
				injected = op + " " + name
				return syscall.EIO
			}
			return nil
		}
		d, err := Discover(t.Context(), k.caller(), need)
		if injected == "" {
			if err != nil {
				t.Fatal(err)
			}
			return // every operation has had its turn
		}
		k.fault = nil
		if d == nil {
			if err == nil {
				t.Fatalf("%s failed: neither a delegation nor an error", injected)
			}
			if own := k.ownOf("100"); own != "/d/me" && !strings.HasPrefix(injected, "rmdir") {
				t.Errorf("%s failed: the caller was left in %s", injected, own)
			}
			continue
		}
		works(t, k, d)
	}
	t.Error("200 operations were not enough")
}

func TestParseMounts(t *testing.T) {
	h := parseMounts("30 22 0:27 /a\\040b /sys/fs/cg\\134roup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n31 22 0:28 / /v1 rw - cgroup cgroup rw,cpu,cpuacct\n32 22 0:29 / /v1n rw - cgroup cgroup rw,xattr,name=systemd\nshort line\n")
	if h.root != "/a b" || h.point != `/sys/fs/cg\roup` || !slices.Equal(h.v1, []string{"cpu"}) {
		t.Errorf("%+v", h)
	}
}

func TestDir(t *testing.T) {
	for _, c := range []struct{ root, own, want string }{
		{"/", "/", "/m"},
		{"/", "/a/b", "/m/a/b"},
		{"/a", "/a/b", "/m/b"},
		{"/a", "/a", "/m"},
		{"/a", "/ab", ""},
		{"/a", "/b", ""},
		{"/", "/../x", ""},
		{"/", "", ""},
		{"/", "a/b", ""},
		{"/", "/a/../../b", ""},
	} {
		if got := (hierarchy{point: "/m", root: c.root}).dir(c.own); got != c.want {
			t.Errorf("root %s, own %s: %q, want %q", c.root, c.own, got, c.want)
		}
	}
}
