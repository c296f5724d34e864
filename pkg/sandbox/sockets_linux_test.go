package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/landlock"
	"ethos/pkg/sandbox/kernel/steps"
)

// TestSocketsByABI: from ABI 9 of Landlock on nothing is notified, and its right is given for declared sockets alone; below, and with a network of its own, connect(2) is.
func TestSocketsByABI(t *testing.T) {
	base, err := os.MkdirTemp("/tmp", "s") // a socket's path has 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	spec := script(t, "true")
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
		var l layers
		l.landlock, _ = landlock.Build(c.abi, landlockRequest(p, c.abi))
		if err := l.prepareSockets(p); err != nil {
			t.Fatal(err)
		}
		var slots steps.Slots
		if l.sockets.landlock != c.landlock || l.sockets.notified != c.notified || len(l.sockets.steps(&slots)) != map[bool]int{true: 2, false: 0}[c.notified] {
			t.Errorf("%+v: %v %v", c, l.sockets.landlock, l.sockets.notified)
		}
		var given []string
		for _, r := range l.landlock.Paths {
			if r.Access&landlock.ResolveUnix != 0 {
				given = append(given, r.Path)
			}
		}
		if want := map[bool][]string{true: {path}}[c.landlock]; !slices.Equal(given, want) {
			t.Errorf("%+v: the right is given for %q", c, given)
		}
	}
	spec.UnixSockets, spec.Network.Mode = []string{inside}, "loopback" // in a writable tree no rule of its own can be made
	if p := mustBuild(t, spec); resolvable(p, 9) || !slices.Equal(p.Sockets, []string{inside}) {
		t.Errorf("%v %q", resolvable(p, 9), p.Sockets)
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
