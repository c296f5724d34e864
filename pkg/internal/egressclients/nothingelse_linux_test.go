package egressclients

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
)

// attempts are what the attacker tries, and where it succeeds: without a
// sandbox, and in one that allows the name of the registry and one socket.
var attempts = []struct {
	probe          string
	direct, inside bool
	privileged     bool // without a sandbox it takes the capabilities CAP_NET_RAW and CAP_NET_ADMIN
}{
	{"tcp=" + registry + ":80", true, true, false},
	{"tcp=" + registry + ":443", true, true, false},
	{"tcp=" + registry + ":81", true, false, false},
	{"tcp=" + other + ":80", true, false, false},
	{"tcp=20.0.0.1:80", true, false, false}, // the server itself, not by its name
	{"tcp=[2a00::1]:443", true, false, false},
	{"tcp=20.0.0.2:80", true, false, false},
	{"tcp=[2a00::2]:80", true, false, false},
	{"tcp=10.0.0.1:80", true, false, false},
	{"tcp=169.254.169.254:80", true, false, false},
	{"tcp=198.18.77.77:80", true, false, false},
	{"tcp=198.18.200.200:80", false, false, false}, // handed out to nobody
	{"tcp=[100::1:2:3]:80", false, false, false},
	{"tcp=127.0.0.1:80", true, false, false}, // the world's loopback, where the sandbox has a door
	{"tcp=[::1]:80", true, false, false},
	{"tcp=127.0.0.1:8080", true, false, false}, // and where it has none
	{"own=127.0.0.1:0", true, true, false},
	{"own=[::1]:0", true, true, false},
	{"udp=20.0.0.2:7", true, false, false},
	{"udp=[2a00::2]:7", true, false, false},
	{"udp=" + registry + ":7", true, false, false},
	{"udp=127.0.0.1:7", true, false, false},
	{"dns-udp=127.0.0.1:53", true, true, false},
	{"dns-tcp=127.0.0.1:53", true, true, false},
	{"dns-udp=20.0.0.2:53", true, false, false},
	{"dns-tcp=20.0.0.2:53", true, false, false},
	{"lookup=" + registry, true, true, false},
	{"lookup=" + unlisted, true, false, false},
	{"ping=20.0.0.2", true, false, false},
	{"socket=raw", true, false, true},
	{"socket=raw6", true, false, true},
	{"socket=packet", true, false, true},
	{"socket=vsock", true, false, false},
	{"unix=listed.socket", true, true, false},
	{"unix=host.socket", true, false, false},
	{"unix=@" + abstract, true, false, false},
	{"netlink=read", true, true, false},
	{"netlink=address", true, false, true},
	{"netlink=route", true, false, true},
	{"netlink=link", true, false, true},
}

var (
	unlisted = fmt.Sprintf("secret-%d.unlisted.example", os.Getpid())
	abstract = fmt.Sprintf("ethos-clients-%d", os.Getpid())
)

// TestNothingElse: a program that ignores every setting reaches what is
// allowed, and nothing else.
func TestNothingElse(t *testing.T) {
	p := newPlace(t)
	echo := func(c net.Conn) { _, _ = io.CopyN(c, c, 1) }
	for _, path := range []string{filepath.Join(p.work, "listed.socket"), filepath.Join(p.work, "host.socket"), "@" + abstract} {
		listen("unix", path, echo)
	}
	script := self() + " " + attackWord
	for _, a := range attempts {
		script += " '" + a.probe + "'"
	}
	flags := []string{"--allow-domain", registry, "--ro", self(), "--unix-socket", filepath.Join(p.work, "listed.socket")}

	before := theWorld.elsewhere.Load()
	inside := lines(t, p.sandboxed(flags, script))
	if n := theWorld.elsewhere.Load() - before; n != 0 {
		t.Errorf("from inside, servers without a name were reached %d times", n)
	}
	if theWorld.zone.wasAsked(unlisted) {
		t.Errorf("the name server of the world was asked for %s", unlisted)
	}
	theWorld.zone.set(unlisted, addrs("20.0.0.2"))
	direct := lines(t, p.direct(script))
	if !theWorld.zone.wasAsked(unlisted) || theWorld.elsewhere.Load() == before {
		t.Error("without a sandbox the world did not see the attack")
	}
	for _, a := range attempts {
		t.Run(a.probe, func(t *testing.T) {
			if got := slices.Contains(inside, "reached "+a.probe); got != a.inside {
				t.Errorf("inside: reached %v: %s", got, about(inside, a.probe))
			}
			if a.privileged && !rulesNetworks(t) {
				return
			}
			if a.probe == "socket=vsock" {
				probetest.NeedFunc(t, "vsock", func() string {
					if err := openSocket("vsock"); err != nil {
						return err.Error()
					}
					return ""
				})
			}
			if got := slices.Contains(direct, "reached "+a.probe); got != a.direct {
				t.Errorf("without a sandbox: reached %v: %s", got, about(direct, a.probe))
			}
		})
	}
}

// lines are what an attacker printed who came to the end.
func lines(t *testing.T, o outcome) []string {
	t.Helper()
	if o.err != nil || !strings.HasSuffix(o.stdout, "done\n") {
		t.Fatalf("the attack did not come to its end: %v", o)
	}
	return strings.Split(o.stdout, "\n")
}

func about(lines []string, probe string) string {
	i := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, probe) })
	if i < 0 {
		return "nothing was printed"
	}
	return lines[i]
}

// rulesNetworks reports that this process has CAP_NET_RAW and CAP_NET_ADMIN, as root has outside of containers.
func rulesNetworks(t *testing.T) bool {
	t.Helper()
	var sets [2]unix.CapUserData
	if err := unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &sets[0]); err != nil {
		t.Fatal(err)
	}
	const both = 1<<unix.CAP_NET_RAW | 1<<unix.CAP_NET_ADMIN
	return sets[0].Effective&both == both
}
