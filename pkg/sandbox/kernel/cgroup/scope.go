package cgroup

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

// ManagerBus returns the D-Bus address of the user's systemd manager, or "" if
// there is none. It tries DBUS_SESSION_BUS_ADDRESS, the socket that systemd
// creates in XDG_RUNTIME_DIR and, for root, the system bus, whose manager is
// the machine's. It ignores addresses that would start a program or use the
// network. Such are unixexec: and tcp:. Whoever sets the environment chooses
// the manager, and no more: what counts is that /proc shows the process in the
// scope afterwards.
func ManagerBus(getenv func(string) string, uid int) string {
	for address := range strings.SplitSeq(getenv("DBUS_SESSION_BUS_ADDRESS"), ";") {
		if strings.HasPrefix(address, "unix:path=") || strings.HasPrefix(address, "unix:abstract=") {
			return address
		}
	}
	runtimeDir := getenv("XDG_RUNTIME_DIR")
	if runtimeDir == "" {
		runtimeDir = "/run/user/" + strconv.Itoa(uid)
	}
	sockets := []string{runtimeDir + "/bus"}
	if uid == 0 {
		sockets = append(sockets, "/run/dbus/system_bus_socket")
	}
	for _, socket := range sockets {
		if info, err := os.Stat(socket); err == nil && info.Mode()&os.ModeSocket != 0 {
			return "unix:path=" + dbus.EscapeBusAddressValue(socket)
		}
	}
	return ""
}

// property is the type (sv) in the array of StartTransientUnit, auxiliary its
// (sa(sv)).
type (
	property struct {
		Name  string
		Value dbus.Variant
	}
	auxiliary struct {
		Name       string
		Properties []property
	}
)

const (
	systemd        = "org.freedesktop.systemd1"
	systemdPath    = "/org/freedesktop/systemd1"
	startTransient = "org.freedesktop.systemd1.Manager.StartTransientUnit"
	scopeTimeout   = 5 * time.Second
)

// Scope returns a [Caller.Scope] that requests a transient scope with
// Delegate=yes from the systemd manager at the address, and waits until /proc
// shows that the process is in it: org.freedesktop.systemd1(5),
// systemd.scope(5). systemd removes the scope and every cgroup below it when
// its last process has ended for any reason. Without Delegate=yes, systemd may
// change controllers in the cgroup at any time. The name is new each time,
// because with mode "fail" an existing one is an error.
func Scope(address string, files Files) func(context.Context, int) error {
	return func(ctx context.Context, pid int) error {
		ctx, cancel := context.WithTimeout(ctx, scopeTimeout)
		defer cancel()
		name := fmt.Sprintf("ethos-%d-%d.scope", pid, time.Now().UnixNano())
		if err := startScope(ctx, address, name, pid); err != nil {
			return err
		}
		return awaitScope(ctx, files, name)
	}
}

// The reply says only that systemd has accepted the job. It refuses a pid that
// is not of the caller's user.
func startScope(ctx context.Context, address, name string, pid int) error {
	conn, err := dbus.Connect(address, dbus.WithContext(ctx))
	if err != nil {
		return fmt.Errorf("connect to %s: %w", address, err)
	}
	defer conn.Close()
	properties := []property{
		{"Description", dbus.MakeVariant("a command confined by ethos-sandbox")},
		{"PIDs", dbus.MakeVariant([]uint32{uint32(pid)})},
		{"Delegate", dbus.MakeVariant(true)},
		{"CollectMode", dbus.MakeVariant("inactive-or-failed")}, // do not keep it as failed: systemd.unit(5)
	}
	call := conn.Object(systemd, systemdPath).CallWithContext(ctx, startTransient, 0, name, "fail", properties, []auxiliary{})
	if call.Err != nil {
		return fmt.Errorf("start %s: %w", name, call.Err)
	}
	return nil
}

// awaitScope polls, because the reply to StartTransientUnit says that the job
// was queued, not that it is done. The kernel notifies nobody when a process is
// moved.
func awaitScope(ctx context.Context, files Files, name string) error {
	for {
		own, err := readOwn(files)
		if err != nil {
			return err
		}
		if strings.HasSuffix(own, "/"+name) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s was started, but the process is still in %s", name, own)
		case <-time.After(time.Millisecond):
		}
	}
}
