package cgroup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"

	"github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"
)

// bus starts a message bus of the test's own and returns its address.
func bus(t *testing.T) string {
	t.Helper()
	probetest.Need(t, "command:dbus-daemon")
	dir := t.TempDir()
	config := filepath.Join(dir, "bus.conf")
	text := `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=` + dir + `/socket</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("dbus-daemon", "--config-file="+config, "--nofork", "--nopidfile", "--print-address=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address, _, _ = strings.Cut(strings.TrimSpace(address), ",guid=")
	return address
}

// manager answers StartTransientUnit with systemd's signature and puts the process where systemd would.
type manager struct {
	mu         sync.Mutex
	tree       *kernel
	properties map[string]any
	mode       string
	refuse     error
	ignore     bool
}

func (m *manager) StartTransientUnit(name, mode string, properties []property, _ []auxiliary) (dbus.ObjectPath, *dbus.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refuse != nil {
		return "", dbus.MakeFailedError(m.refuse)
	}
	m.mode, m.properties = mode, map[string]any{}
	for _, p := range properties {
		m.properties[p.Name] = p.Value.Value()
	}
	if m.ignore {
		return "/job/1", nil
	}
	m.tree.mu.Lock()
	defer m.tree.mu.Unlock()
	m.tree.groups["/user.slice/app"] = &group{owner: user, subtree: []string{"cpu", "memory", "pids"}}
	m.tree.groups["/user.slice"].subtree = allControllers
	m.tree.groups["/user.slice/session-1.scope"].procs = nil
	m.tree.groups["/user.slice/app/"+name] = &group{owner: user, procs: []string{"100"}}
	return "/job/1", nil
}

func serve(t *testing.T, address string, m *manager) {
	t.Helper()
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.Export(m, systemdPath, "org.freedesktop.systemd1.Manager"); err != nil {
		t.Fatal(err)
	}
	if reply, err := conn.RequestName(systemd, dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(reply, err)
	}
}

func TestScope(t *testing.T) {
	address := bus(t)
	m := &manager{tree: newKernel(user, "/user.slice/session-1.scope", "/user.slice", "/user.slice/session-1.scope")}
	serve(t, address, m)
	caller := m.tree.caller()
	caller.Scope = Scope(address, m.tree)
	d, err := Discover(t.Context(), caller, need)
	if err != nil {
		t.Fatal(err)
	}
	if d.Found != "systemd scope" || !strings.Contains(d.Path, "/user.slice/app/ethos-100-") || !strings.HasSuffix(d.Path, ".scope") {
		t.Errorf("found %s (%s)", d.Path, d.Found)
	}
	want := map[string]any{
		"Description": "a command confined by ethos-sandbox", "PIDs": []uint32{100}, "Delegate": true, "CollectMode": "inactive-or-failed",
	}
	if diff := cmp.Diff(want, m.properties); diff != "" || m.mode != "fail" {
		t.Errorf("mode %s, properties (-want +got):\n%s", m.mode, diff)
	}
	works(t, m.tree, d)
}

func TestScopeRefused(t *testing.T) {
	address := bus(t)
	tree := newKernel(user, "/user.slice/session-1.scope", "/user.slice", "/user.slice/session-1.scope")
	serve(t, address, &manager{tree: tree, refuse: errors.New("no more scopes for you")})
	caller := tree.caller()
	caller.Scope = Scope(address, tree)
	_, err := Discover(t.Context(), caller, need)
	refused(t, tree, err, []string{"systemd scope", "no more scopes for you"})
}

// TestScopeThatNeverComes : the reply of the manager is no proof, /proc is.
func TestScopeThatNeverComes(t *testing.T) {
	address := bus(t)
	tree := newKernel(user, "/user.slice/session-1.scope", "/user.slice", "/user.slice/session-1.scope")
	serve(t, address, &manager{tree: tree, ignore: true})
	for limit := 200 * time.Millisecond; ; limit *= 4 { // a slow machine takes longer to come to the manager
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		err := Scope(address, tree)(ctx, 100)
		cancel()
		switch {
		case err == nil:
			t.Fatal("no error")
		case strings.Contains(err.Error(), "the process is still in /user.slice/session-1.scope"):
			return
		case limit > time.Minute:
			t.Fatal(err)
		}
	}
}

func TestScopeWithoutManager(t *testing.T) {
	if err := Scope("unix:path=/nowhere", nil)(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "connect to unix:path=/nowhere") {
		t.Errorf("error %v", err)
	}
	address := bus(t) // a bus without systemd on it
	if err := Scope(address, nil)(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "start ethos-1-") {
		t.Errorf("error %v", err)
	}
}

func TestManagerBus(t *testing.T) {
	dir := t.TempDir()
	listener, err := net.Listen("unix", dir+"/bus")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for _, c := range []struct{ session, runtime, want string }{
		{"unix:path=/run/user/7/bus", "", "unix:path=/run/user/7/bus"},
		{"unix:abstract=/tmp/dbus-x,guid=1", "", "unix:abstract=/tmp/dbus-x,guid=1"},
		{"unixexec:path=/bin/evil", dir, "unix:path=" + dir + "/bus"},
		{"autolaunch:", "/nowhere", ""},
		{"tcp:host=example.org,port=1", "/nowhere", ""},
		{"tcp:host=example.org,port=1;unix:path=/x", "/nowhere", "unix:path=/x"},
		{"", dir, "unix:path=" + dir + "/bus"},
		{"", "/nowhere", ""},
	} {
		env := map[string]string{"DBUS_SESSION_BUS_ADDRESS": c.session, "XDG_RUNTIME_DIR": c.runtime}
		if got := ManagerBus(func(name string) string { return env[name] }, 4242); got != c.want {
			t.Errorf("%v: %q, want %q", env, got, c.want)
		}
	}
	if got := ManagerBus(func(string) string { return "" }, 4242); got != "" && !strings.Contains(got, fmt.Sprint(4242)) {
		t.Errorf("without any variable: %q", got)
	}
}
