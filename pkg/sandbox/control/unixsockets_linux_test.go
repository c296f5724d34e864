package control_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"ethos/pkg/capability"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/kernel/landlock"
)

// TestSocketsByABI: from ABI 9 of Landlock on nothing is notified, and its right is given for declared sockets alone; below, and with a network of its own, connect(2) is.
func TestSocketsByABI(t *testing.T) {
	base, err := os.MkdirTemp("/tmp", "s") // a socket's path has 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	spec := sandbox.Spec{Asked: capability.OnProfile(""), Argv: []string{"true"}, Environ: []string{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin"}, NewSession: true, CloseStdin: true}
	spec.Workspace = base + "/w"
	spec.Dir = spec.Workspace
	if err := os.Mkdir(spec.Workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	inside := mustBuildSocket(t, spec.Workspace+"/s")
	path := mustBuildSocket(t, filepath.Join(filepath.Dir(spec.Workspace), "s"))
	spec.UnixSockets = []string{path}
	for _, c := range []struct {
		abi      int
		network  string
		landlock bool
		notified bool
	}{{9, "loopback", true, false}, {9, "host", true, false}, {7, "loopback", false, true}, {7, "none", false, true}, {0, "loopback", false, true}, {7, "host", false, false}} {
		spec.Network.Mode = c.network
		p := mustBuild(t, spec)
		rules, byLandlock, notified := control.SocketsByABI(t, p, c.abi)
		if byLandlock != c.landlock || notified != map[bool]int{true: 2, false: 0}[c.notified] {
			t.Errorf("%+v: %v, %d calls", c, byLandlock, notified)
		}
		var given []string
		for _, r := range rules.Paths {
			if r.Access&landlock.ResolveUnix != 0 {
				given = append(given, r.Path)
			}
		}
		if want := map[bool][]string{true: {path}}[c.landlock]; !slices.Equal(given, want) {
			t.Errorf("%+v: the right is given for %q", c, given)
		}
	}
	spec.UnixSockets, spec.Network.Mode = []string{inside}, "loopback" // in a writable tree no rule of its own can be made
	if p := mustBuild(t, spec); control.Resolvable(p, 9) || !slices.Equal(p.Sockets, []string{inside}) {
		t.Errorf("%v %q", control.Resolvable(p, 9), p.Sockets)
	}
}

func mustBuildSocket(t *testing.T, path string) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustBuild(t *testing.T, spec sandbox.Spec) *sandbox.Plan {
	t.Helper()
	p, err := sandbox.Build(spec, sandbox.HostFiles{}, os.Geteuid())
	if err != nil {
		t.Fatal(err)
	}
	return p
}
