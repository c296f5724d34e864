package seccomp

import "testing"

func TestNarrowing(t *testing.T) {
	for _, c := range []struct {
		network, metadata bool
		call              string
		args              [6]uint64
		want              Action
	}{
		{true, false, "socket", [6]uint64{2}, Errno(eAFNOSUPPORT)},
		{true, false, "socket", [6]uint64{10}, Errno(eAFNOSUPPORT)},
		{true, false, "socket", [6]uint64{junk | 40}, Errno(eAFNOSUPPORT)},
		{true, false, "socket", [6]uint64{1}, Allow},
		{true, false, "socket", [6]uint64{16}, Allow},
		{true, false, "socketpair", [6]uint64{1}, Allow},
		{true, false, "fchmod", [6]uint64{3, 0o600}, Allow},
		{false, true, "socket", [6]uint64{2}, Allow},
		{false, true, "fchmod", [6]uint64{3, 0o600}, eperm},
		{false, true, "fchmodat2", [6]uint64{}, eperm},
		{false, true, "utimensat", [6]uint64{}, eperm},
		{false, true, "removexattrat", [6]uint64{}, eperm},
		{false, true, "file_setattr", [6]uint64{}, eperm},
		{false, true, "ioctl", [6]uint64{3, 0x40086602}, Errno(eNOTTY)},        // FS_IOC_SETFLAGS
		{false, true, "ioctl", [6]uint64{3, junk | 0x401c5820}, Errno(eNOTTY)}, // FS_IOC_FSSETXATTR
		{false, true, "ioctl", [6]uint64{3, 0x5000940e}, Errno(eNOTTY)},        // BTRFS_IOC_SUBVOL_CREATE
		{false, true, "ioctl", [6]uint64{3, 1}, Errno(eNOTTY)},
		{false, true, "ioctl", [6]uint64{3, 0x5500}, Errno(eNOTTY)},
		{false, true, "ioctl", [6]uint64{3, 0x8a00}, Errno(eNOTTY)},
		{false, true, "ioctl", [6]uint64{3, 0x541b}, Allow},     // FIONREAD
		{false, true, "ioctl", [6]uint64{3, 0x8910}, Allow},     // SIOCGIFNAME
		{false, true, "ioctl", [6]uint64{3, 0x80045430}, Allow}, // TIOCGPTN
		{true, false, "ioctl", [6]uint64{3, 0x40086602}, Allow},
		{false, true, "ioctl", [6]uint64{3, 0x5401}, Allow}, // TCGETS
		{false, true, "openat", [6]uint64{}, Allow},
	} {
		for _, arch := range []*Arch{AMD64(), ARM64()} {
			d := data{number: number(t, arch, c.call), arch: arch.audit, args: c.args}
			if got := newVM(t, compile(t, Narrowing(c.network, c.metadata), arch)).run(t, d); got != c.want {
				t.Errorf("%v %v: %s%#x = %v, want %v", c.network, c.metadata, c.call, c.args, got, c.want)
			}
		}
	}
}

// TestSockets: a pair of Unix sockets stays one that is connected to itself.
func TestSockets(t *testing.T) {
	for _, c := range []struct {
		noUnix bool
		call   string
		args   [6]uint64
		want   Action
	}{
		{true, "socket", [6]uint64{afUnix, 1}, eperm},
		{true, "socketpair", [6]uint64{afUnix, 1}, Allow},
		{true, "socketpair", [6]uint64{afUnix, 5}, Allow},
		{true, "socketpair", [6]uint64{afUnix, 0x80801}, Allow}, // SOCK_CLOEXEC | SOCK_NONBLOCK
		{true, "socketpair", [6]uint64{junk | afUnix, junk | 0x80005}, Allow},
		{true, "socketpair", [6]uint64{afUnix, 2}, eperm},
		{true, "socketpair", [6]uint64{afUnix, 3}, eperm}, // SOCK_RAW, which becomes a datagram socket
		{true, "socketpair", [6]uint64{junk | afUnix, junk | 0x80802}, eperm},
		{true, "socketpair", [6]uint64{afUnix, 0}, eperm},
		{true, "socketpair", [6]uint64{afUnix, 7}, eperm},
		{true, "socketpair", [6]uint64{afUnix, 13}, eperm},
		{true, "socketpair", [6]uint64{afUnix, 15}, eperm},
		{false, "socketpair", [6]uint64{afUnix, 2}, Allow},
		{false, "socket", [6]uint64{afUnix, 2}, Allow},
		{false, "socket", [6]uint64{afInet, 2}, eperm},
	} {
		for _, arch := range []*Arch{AMD64(), ARM64()} {
			d := data{number: number(t, arch, c.call), arch: arch.audit, args: c.args}
			if got := newVM(t, compile(t, Sockets(true, c.noUnix), arch)).run(t, d); got != c.want {
				t.Errorf("%v: %s%#x = %v, want %v", c.noUnix, c.call, c.args, got, c.want)
			}
		}
	}
}

// TestAlone: what a run without namespaces could do to files that it may not read.
func TestAlone(t *testing.T) {
	for _, c := range []struct {
		call string
		args [6]uint64
		want Action
	}{
		{"inotify_init1", [6]uint64{}, Allow},
		{"inotify_add_watch", [6]uint64{3, 0, 0xfff}, Errno(eNOSPC)},
		{"fchmod", [6]uint64{3, 0o2755}, eperm},
		{"fchmod", [6]uint64{3, junk | 0o2755}, eperm},
		{"fchmodat", [6]uint64{0, 0, 0o2755}, eperm},
		{"fchmodat2", [6]uint64{0, 0, 0o2755}, eperm},
		{"mknodat", [6]uint64{0, 0, 0o102755}, eperm},
		{"openat", [6]uint64{0, 0, 0o101, 0o2755}, eperm},
		{"fchmod", [6]uint64{3, 0o1755}, Allow},
		{"fchmodat", [6]uint64{0, 0, 0o755}, Allow},
		{"openat", [6]uint64{0, 0, 0, 0o2755}, Allow}, // makes no file
		{"openat", [6]uint64{0, 0, 0o101, 0o644}, Allow},
	} {
		for _, arch := range []*Arch{AMD64(), ARM64()} {
			d := data{number: number(t, arch, c.call), arch: arch.audit, args: c.args}
			if got := newVM(t, compile(t, Alone(false), arch)).run(t, d); got != c.want {
				t.Errorf("%s%#x = %v, want %v", c.call, c.args, got, c.want)
			}
		}
	}
}
