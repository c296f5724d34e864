package seccomp

import (
	"slices"
	"testing"
)

var (
	eperm    = Errno(ePERM)
	enosys   = Errno(eNOSYS)
	enoproto = Errno(ePROTONOSUPPORT)
	enofam   = Errno(eAFNOSUPPORT)
)

const junk = 0xdeadbeef << 32 // what a hostile caller leaves above a 32-bit argument

// denyCases are calls and what the deny-privilege profile answers. A call without an architecture is tried on all.
var denyCases = []struct {
	call string
	args [6]uint64
	want Action
}{
	{"ptrace", [6]uint64{}, eperm},
	{"process_vm_readv", [6]uint64{}, eperm},
	{"process_vm_writev", [6]uint64{}, eperm},
	{"pidfd_getfd", [6]uint64{}, eperm},
	{"pidfd_open", [6]uint64{}, Allow},
	{"mount", [6]uint64{}, eperm},
	{"umount2", [6]uint64{}, eperm},
	{"pivot_root", [6]uint64{}, eperm},
	{"chroot", [6]uint64{}, eperm},
	{"mount_setattr", [6]uint64{}, eperm},
	{"move_mount", [6]uint64{}, eperm},
	{"open_tree", [6]uint64{}, eperm},
	{"open_tree_attr", [6]uint64{}, eperm},
	{"fsopen", [6]uint64{}, eperm},
	{"fsconfig", [6]uint64{}, eperm},
	{"fsmount", [6]uint64{}, eperm},
	{"fspick", [6]uint64{}, eperm},
	{"chdir", [6]uint64{}, Allow},
	{"fchmod", [6]uint64{3, 0o4000}, eperm},
	{"fchmod", [6]uint64{3, 0o1777}, Allow},
	{"fchmodat", [6]uint64{0, 0, 0o4755}, eperm},
	{"fchmodat", [6]uint64{0, 0, 0o755}, Allow},
	{"fchmodat2", [6]uint64{0, 0, 0o4755}, eperm},
	{"openat", [6]uint64{0, 0, 0o101, 0o4755}, eperm},
	{"openat", [6]uint64{0, 0, junk | 0o101, junk | 0o4755}, eperm},
	{"openat", [6]uint64{0, 0, 0o20200001, 0o4755}, eperm}, // O_TMPFILE
	{"openat", [6]uint64{0, 0, 0o101, 0o644}, Allow},
	{"openat", [6]uint64{0, 0, 0o200000, 0o7777}, Allow}, // O_DIRECTORY alone
	{"openat2", [6]uint64{}, enosys},
	{"mknodat", [6]uint64{0, 0, 0o104755}, eperm},
	{"mknodat", [6]uint64{0, 0, 0o100644}, Allow},
	{"setns", [6]uint64{}, eperm},
	{"listns", [6]uint64{}, eperm},
	{"unshare", [6]uint64{0x10000000}, eperm},
	{"unshare", [6]uint64{0x80}, eperm}, // CLONE_NEWTIME
	{"unshare", [6]uint64{0x200 | 0x20000}, eperm},
	{"unshare", [6]uint64{1 << 33}, eperm}, // a flag that does not exist yet
	{"unshare", [6]uint64{0x200 | 0x400}, Allow},
	{"unshare", [6]uint64{0}, Allow},
	{"clone", [6]uint64{0x10000000 | 17}, eperm},
	{"clone", [6]uint64{junk | 0x20000000}, eperm},
	{"clone", [6]uint64{0x00020000}, eperm},
	{"clone", [6]uint64{0x003d0f00}, Allow},        // pthread_create
	{"clone", [6]uint64{0x01200011}, Allow},        // fork: CHILD_SETTID | CHILD_CLEARTID | SIGCHLD
	{"clone", [6]uint64{0x4111}, Allow},            // vfork
	{"clone", [6]uint64{junk | 0x01200011}, Allow}, // the kernel drops the upper half
	{"clone3", [6]uint64{}, enosys},
	{"execve", [6]uint64{}, Allow},
	{"execveat", [6]uint64{}, Allow},
	{"keyctl", [6]uint64{}, eperm},
	{"add_key", [6]uint64{}, eperm},
	{"request_key", [6]uint64{}, eperm},
	{"bpf", [6]uint64{}, eperm},
	{"perf_event_open", [6]uint64{}, eperm},
	{"userfaultfd", [6]uint64{}, eperm},
	{"io_uring_setup", [6]uint64{}, enosys},
	{"io_uring_enter", [6]uint64{}, enosys},
	{"io_uring_register", [6]uint64{}, enosys},
	{"epoll_ctl", [6]uint64{}, Allow},
	{"kexec_load", [6]uint64{}, eperm},
	{"kexec_file_load", [6]uint64{}, eperm},
	{"init_module", [6]uint64{}, eperm},
	{"finit_module", [6]uint64{}, eperm},
	{"delete_module", [6]uint64{}, eperm},
	{"reboot", [6]uint64{}, eperm},
	{"swapon", [6]uint64{}, eperm},
	{"swapoff", [6]uint64{}, eperm},
	{"quotactl", [6]uint64{}, eperm},
	{"quotactl_fd", [6]uint64{}, eperm},
	{"acct", [6]uint64{}, eperm},
	{"vhangup", [6]uint64{}, eperm},
	{"settimeofday", [6]uint64{}, eperm},
	{"clock_settime", [6]uint64{}, eperm},
	{"clock_adjtime", [6]uint64{}, eperm},
	{"adjtimex", [6]uint64{}, Allow}, // reading the clock's state; the kernel asks for CAP_SYS_TIME to set it
	{"sethostname", [6]uint64{}, eperm},
	{"prlimit64", [6]uint64{1, 7}, eperm},
	{"prlimit64", [6]uint64{junk | 1, 7}, eperm}, // pid_t has 32 bits
	{"prlimit64", [6]uint64{0, 7}, Allow},
	{"prlimit64", [6]uint64{2, 7}, Allow},
	{"sched_setaffinity", [6]uint64{1}, eperm},
	{"sched_setaffinity", [6]uint64{0}, Allow},
	{"sched_setscheduler", [6]uint64{1, 5}, eperm},
	{"sched_setscheduler", [6]uint64{0, 5}, Allow},
	{"sched_setparam", [6]uint64{1}, eperm},
	{"sched_setparam", [6]uint64{3}, Allow},
	{"sched_setattr", [6]uint64{1}, eperm},
	{"sched_setattr", [6]uint64{0}, Allow},
	{"fanotify_init", [6]uint64{0}, eperm},
	{"fanotify_mark", [6]uint64{}, eperm},
	{"inotify_init1", [6]uint64{}, Allow},
	{"setdomainname", [6]uint64{}, eperm},
	{"uname", [6]uint64{}, Allow},
	{"syslog", [6]uint64{}, eperm},
	{"open_by_handle_at", [6]uint64{}, eperm},
	{"name_to_handle_at", [6]uint64{}, Allow},
	{"lookup_dcookie", [6]uint64{}, eperm},
	{"nfsservctl", [6]uint64{}, enosys},
	{"mknodat", [6]uint64{0, 0, sIFCHR | 0o600}, eperm},
	{"mknodat", [6]uint64{0, 0, sIFBLK | 0o600}, eperm},
	{"mknodat", [6]uint64{0, 0, 0x10000 | sIFBLK | 0o600}, eperm}, // umode_t has 16 bits
	{"mknodat", [6]uint64{0, 0, 0o010000 | 0o600}, Allow},         // a FIFO
	{"mknodat", [6]uint64{0, 0, 0o140000 | 0o600}, Allow},         // a socket
	{"mknodat", [6]uint64{0, 0, 0o600}, Allow},
	{"personality", [6]uint64{0}, Allow},
	{"personality", [6]uint64{0xffffffff}, Allow},
	{"personality", [6]uint64{^uint64(0)}, Allow}, // the same, sign-extended
	{"personality", [6]uint64{8}, Allow},
	{"personality", [6]uint64{0x20008}, Allow},
	{"personality", [6]uint64{0x40000}, Allow}, // setarch -R, gdb, ThreadSanitizer
	{"personality", [6]uint64{0x400000}, eperm},
	{"personality", [6]uint64{0x100000}, eperm},
	{"personality", [6]uint64{0x440000}, eperm},
	{"personality", [6]uint64{junk | 0x400000}, eperm},
	{"ioctl", [6]uint64{0, 0x5412}, eperm},
	{"ioctl", [6]uint64{0, junk | 0x5412}, eperm},
	{"ioctl", [6]uint64{0, 0x541c}, eperm},
	{"ioctl", [6]uint64{0, junk | 0x541c}, eperm},
	{"ioctl", [6]uint64{0, 0x5423}, eperm},
	{"ioctl", [6]uint64{0, 0x5413}, Allow}, // TIOCGWINSZ
	{"ioctl", [6]uint64{0, 0x5401}, Allow}, // TCGETS
	{"ioctl", [6]uint64{0x5412, 0}, Allow},
	{"socket", [6]uint64{afUnix, 1, 0}, Allow},
	{"socket", [6]uint64{afUnix, 3, 0}, Allow},
	{"socket", [6]uint64{afInet, 1, 0}, Allow},
	{"socket", [6]uint64{afInet, 1 | 0x80800, 6}, Allow}, // SOCK_STREAM|SOCK_CLOEXEC|SOCK_NONBLOCK
	{"socket", [6]uint64{afInet, 2, 17}, Allow},
	{"socket", [6]uint64{afInet, 2, 1}, Allow}, // unprivileged ping
	{"socket", [6]uint64{afInet6, 2, 58}, Allow},
	{"socket", [6]uint64{afInet6, 1, 6}, Allow},
	{"socket", [6]uint64{afInet, 3, 1}, eperm},
	{"socket", [6]uint64{afInet, 3 | 0x80000, 1}, eperm},
	{"socket", [6]uint64{afInet, junk | 3, 1}, eperm},
	{"socket", [6]uint64{afInet, 10, 0x300}, eperm}, // SOCK_PACKET
	{"socket", [6]uint64{afInet6, 3, 58}, eperm},
	{"socket", [6]uint64{afInet6, 10, 0}, eperm},
	{"socket", [6]uint64{afInet, 1, 262}, enoproto}, // MPTCP
	{"socket", [6]uint64{afInet, 1, 256}, enoproto}, // SMC
	{"socket", [6]uint64{afInet6, 1, 262}, enoproto},
	{"socket", [6]uint64{afInet6, 1, 1}, enoproto},
	{"socket", [6]uint64{afInet, 1, 132}, enoproto}, // SCTP
	{"socket", [6]uint64{afInet, 6, 33}, enoproto},  // DCCP
	{"socket", [6]uint64{afInet, 2, 136}, Allow},    // UDP-Lite
	{"socket", [6]uint64{afInet6, 2, 136}, Allow},
	{"socket", [6]uint64{afInet, 2, 137}, enoproto},
	{"socket", [6]uint64{afNetlink, 3, 0}, Allow},
	{"socket", [6]uint64{afNetlink, 2 | 0x80000, 0}, Allow},
	{"socket", [6]uint64{afNetlink, 3, 12}, enoproto}, // NETLINK_NETFILTER
	{"socket", [6]uint64{afNetlink, 3, 16}, enoproto}, // NETLINK_GENERIC
	{"socket", [6]uint64{afNetlink, 3, 6}, enoproto},  // NETLINK_XFRM
	{"socket", [6]uint64{17, 3, 0}, enofam},           // AF_PACKET
	{"socket", [6]uint64{38, 5, 0}, enofam},           // AF_ALG
	{"socket", [6]uint64{40, 1, 0}, enofam},           // AF_VSOCK
	{"socket", [6]uint64{junk | 40, 1, 0}, enofam},
	{"socket", [6]uint64{44, 3, 0}, enofam}, // AF_XDP
	{"socket", [6]uint64{31, 3, 0}, enofam}, // AF_BLUETOOTH
	{"socket", [6]uint64{15, 3, 2}, enofam}, // AF_KEY
	{"socket", [6]uint64{29, 3, 1}, enofam}, // AF_CAN
	{"socket", [6]uint64{0, 1, 0}, enofam},  // AF_UNSPEC
	{"socket", [6]uint64{46, 1, 0}, enofam}, // a family that does not exist yet
	{"socketpair", [6]uint64{afUnix, 1, 0}, Allow},
	{"socketpair", [6]uint64{30, 1, 0}, enofam},        // AF_TIPC
	{"setsockopt", [6]uint64{3, 6, 31}, Errno(eNOENT)}, // TCP_ULP
	{"setsockopt", [6]uint64{3, junk | 6, junk | 31}, Errno(eNOENT)},
	{"setsockopt", [6]uint64{3, 6, 1}, Allow},  // TCP_NODELAY
	{"setsockopt", [6]uint64{3, 1, 31}, Allow}, // SO_PEERSEC
	{"connect", [6]uint64{}, Allow},
	{"read", [6]uint64{}, Allow},
	{"write", [6]uint64{}, Allow},
	{"futex", [6]uint64{}, Allow},
	{"prctl", [6]uint64{}, Allow},
	{"seccomp", [6]uint64{}, Allow},
	{"landlock_restrict_self", [6]uint64{}, Allow},
	{"exit_group", [6]uint64{}, Allow},
	{"rt_sigreturn", [6]uint64{}, Allow},
}

func TestDenyPrivilege(t *testing.T) {
	for _, arch := range []*Arch{AMD64(), ARM64()} {
		machine := newVM(t, compile(t, DenyPrivilege(), arch))
		for _, c := range denyCases {
			d := data{number: number(t, arch, c.call), arch: arch.audit, args: c.args}
			if got := machine.run(t, d); got != c.want {
				t.Errorf("%s %s%#x = %v, want %v", arch, c.call, c.args, got, c.want)
			}
		}
	}
}

func TestDenyPrivilegeAMD64(t *testing.T) {
	machine := newVM(t, compile(t, DenyPrivilege(), AMD64()))
	for _, c := range []struct {
		call string
		args [6]uint64
		want Action
	}{
		{"chmod", [6]uint64{0, 0o4755}, eperm},
		{"chmod", [6]uint64{0, junk | 0o6755}, eperm},
		{"chmod", [6]uint64{0, 0o2755}, Allow}, // set-group-ID: shared directories
		{"chmod", [6]uint64{0, 0o755}, Allow},
		{"creat", [6]uint64{0, 0o4755}, eperm},
		{"creat", [6]uint64{0, 0o644}, Allow},
		{"open", [6]uint64{0, 0o101, 0o4755}, eperm},
		{"open", [6]uint64{0, 0o101, 0o644}, Allow},
		{"open", [6]uint64{0, 0, 0o4755}, Allow}, // nothing is made: the third argument means nothing
		{"mknod", [6]uint64{0, 0o104755}, eperm},
		{"iopl", [6]uint64{}, eperm},
		{"ioperm", [6]uint64{}, eperm},
		{"uselib", [6]uint64{}, enosys},
		{"_sysctl", [6]uint64{}, enosys},
		{"modify_ldt", [6]uint64{}, enosys},
		{"arch_prctl", [6]uint64{0x1002}, Allow},
		{"mknod", [6]uint64{0, sIFCHR | 0o600}, eperm},
		{"mknod", [6]uint64{0, sIFBLK | 0o600}, eperm},
		{"mknod", [6]uint64{0, 0o010600}, Allow},
		{"fork", [6]uint64{}, Allow},
		{"vfork", [6]uint64{}, Allow},
		{"uretprobe", [6]uint64{}, Allow},
	} {
		d := data{number: number(t, AMD64(), c.call), arch: archAMD64.audit, args: c.args}
		if got := machine.run(t, d); got != c.want {
			t.Errorf("%s%#x = %v, want %v", c.call, c.args, got, c.want)
		}
	}
}

// TestEveryRuleIsTried holds the table above complete: a rule whose action no case reaches is not tested.
func TestEveryRuleIsTried(t *testing.T) {
	for i, rule := range DenyPrivilege().Rules {
		for _, name := range rule.Calls {
			if archARM64.find(name) == nil {
				continue // in TestDenyPrivilegeAMD64
			}
			alone := newVM(t, compile(t, Profile{Default: Allow, Rules: []Rule{rule}}, ARM64()))
			tried := slices.ContainsFunc(denyCases, func(c struct {
				call string
				args [6]uint64
				want Action
			}) bool {
				return c.call == name && alone.run(t, data{number: number(t, ARM64(), name), arch: archARM64.audit, args: c.args}) == rule.Action
			})
			if !tried {
				t.Errorf("rule %d (%s): no case for %s", i, rule.Why, name)
			}
		}
	}
}

func TestForeignCallsDie(t *testing.T) {
	amd64 := newVM(t, compile(t, DenyPrivilege(), AMD64()))
	arm64 := newVM(t, compile(t, DenyPrivilege(), ARM64()))
	for _, c := range []struct {
		name    string
		machine vm
		d       data
		want    Action
	}{
		{"i386 exit on amd64", amd64, data{number: 1, arch: 0x40000003}, KillProcess},
		{"i386 ptrace on amd64", amd64, data{number: 26, arch: 0x40000003}, KillProcess},
		{"arm64 on amd64", amd64, data{number: 0, arch: archARM64.audit}, KillProcess},
		{"no architecture", amd64, data{}, KillProcess},
		{"x32 read", amd64, data{number: x32Bit, arch: archAMD64.audit}, KillProcess},
		{"x32 ptrace", amd64, data{number: x32Bit | 521, arch: archAMD64.audit}, KillProcess},
		{"x32 high", amd64, data{number: 0xfffffffe, arch: archAMD64.audit}, KillProcess},
		{"compat entry without the x32 bit", amd64, data{number: 521, arch: archAMD64.audit}, enosys}, // CVE-less, fixed in Linux 5.4
		{"minus one", amd64, data{number: ^uint32(0), arch: archAMD64.audit}, enosys},
		{"newest", amd64, data{number: archAMD64.newest(), arch: archAMD64.audit}, Allow},
		{"newer than known", amd64, data{number: archAMD64.newest() + 1, arch: archAMD64.audit}, enosys},
		{"arm on arm64", arm64, data{number: 1, arch: 0x40000028}, KillProcess},
		{"amd64 on arm64", arm64, data{number: 0, arch: archAMD64.audit}, KillProcess},
		{"newer than known on arm64", arm64, data{number: archARM64.newest() + 1, arch: archARM64.audit}, enosys},
		{"high on arm64", arm64, data{number: x32Bit, arch: archARM64.audit}, enosys},
	} {
		if got := c.machine.run(t, c.d); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestOpenings: what a command is let do with namespaces, and that all else is as
// it was.
func TestOpenings(t *testing.T) {
	const user, mountNS, cgroup = 0x10000000, 0x20000, 0x02000000
	for _, arch := range []*Arch{AMD64(), ARM64()} {
		for _, c := range []struct {
			call              string
			args              [6]uint64
			namespaces, mount Action
		}{
			{"unshare", [6]uint64{user | mountNS}, Allow, Allow},
			{"unshare", [6]uint64{user | cgroup}, eperm, eperm},
			{"unshare", [6]uint64{0x80}, eperm, eperm},
			{"unshare", [6]uint64{1 << 33}, eperm, eperm},
			{"clone", [6]uint64{user | 17}, Allow, Allow},
			{"clone", [6]uint64{junk | user | cgroup | 17}, eperm, eperm},
			{"clone3", [6]uint64{}, enosys, enosys},
			{"setns", [6]uint64{}, Allow, Allow},
			{"listns", [6]uint64{}, eperm, eperm},
			{"chroot", [6]uint64{}, Allow, Allow},
			{"mount", [6]uint64{}, eperm, Allow},
			{"fsopen", [6]uint64{}, eperm, Allow},
			{"umount2", [6]uint64{}, eperm, Allow},
			{"ptrace", [6]uint64{}, eperm, eperm},
			{"keyctl", [6]uint64{}, eperm, eperm},
			{"bpf", [6]uint64{}, eperm, eperm},
			{"open_by_handle_at", [6]uint64{}, eperm, eperm},
			{"settimeofday", [6]uint64{}, eperm, eperm},
		} {
			for o, want := range map[Openings]Action{{Namespaces: true}: c.namespaces, {Mounts: true}: c.mount} {
				d := data{number: number(t, arch, c.call), arch: arch.audit, args: c.args}
				if got := newVM(t, compile(t, DenyPrivilegeBut(o), arch)).run(t, d); got != want {
					t.Errorf("%s %+v: %s%#x = %v, want %v", arch, o, c.call, c.args, got, want)
				}
			}
		}
	}
}
