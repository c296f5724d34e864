package seccomp

import (
	"slices"
	"strings"
)

// DenyPrivilegeName is the name of the built-in profile.
const DenyPrivilegeName = "deny-privilege"

// Constants of the kernel's headers that the rules use.
const (
	csignal          = 0x000000ff // linux/sched.h CSIGNAL: clone(2)'s exit signal, which overlaps CLONE_NEWTIME's bit
	cloneVM          = 0x00000100
	cloneFS          = 0x00000200
	cloneFiles       = 0x00000400
	cloneSighand     = 0x00000800
	cloneThread      = 0x00010000
	cloneSysvsem     = 0x00040000
	cloneNamespaces  = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000 // NEWNS NEWCGROUP NEWUTS NEWIPC NEWUSER NEWPID NEWNET
	cloneNewCgroup   = 0x02000000
	unshareHarmless  = cloneVM | cloneFS | cloneFiles | cloneSighand | cloneThread | cloneSysvsem
	tiocsti          = 0x5412 // asm-generic/ioctls.h
	tioclinux        = 0x541c
	tiocsetd         = 0x5423
	afUnix           = 1 // linux/socket.h
	afInet           = 2
	afInet6          = 10
	afNetlink        = 16
	sockTypeMask     = 0xf // linux/net.h SOCK_TYPE_MASK
	sockRaw          = 3
	sockPacket       = 10
	netlinkRoute     = 0 // linux/netlink.h
	ipprotoIP        = 0 // linux/in.h
	ipprotoICMP      = 1
	ipprotoTCP       = 6
	ipprotoUDP       = 17
	ipprotoICMPv6    = 58
	ipprotoUDPLite   = 136
	tcpULP           = 31       // linux/tcp.h
	sIFMT            = 0o170000 // linux/stat.h
	sIFCHR           = 0o020000
	sIFBLK           = 0o060000
	sISUID           = 0o004000
	sISGID           = 0o002000
	oCreat           = 0o100      // asm-generic/fcntl.h, the same on amd64 and arm64
	oTmpfile         = 0o20000000 // __O_TMPFILE
	initPID          = 1          // pid_namespaces(7): the PID of init inside its namespace
	perLinux         = 0          // linux/personality.h
	perLinux32       = 0x0008
	perUname26       = 0x0020000
	perNoRandomize   = 0x0040000
	personalityQuery = 0xffffffff // personality(2): return the present one
)

// DenyPrivilege returns the profile of every run. It does not affect programs
// that mind their own business. Calls that reach for the kernel, another
// process or the outside are denied with the errno of a kernel without the
// feature, or of a missing privilege. The profile does not replace the other
// mechanisms; most of these calls fail already for lack of a capability. It
// ensures that a mistake in one mechanism is not enough, and that the kernel
// code behind these calls cannot be reached at all.
//
// What Why does not say of some of them:
//   - setns: its descriptor may come from a process outside. It can be a pidfd
//     since Linux 5.8, for several namespaces at once.
//   - unshare: the flags that remain separate only what threads share, and need
//     no capability: unshare(2).
//   - clone: the flags are the first argument on amd64 and arm64, the second on
//     s390: clone(2). CLONE_NEWTIME shares its bit with the exit signal, so
//     clone(2) cannot have it.
//   - bpf, perf_event_open, userfaultfd: the kernel has switches for
//     unprivileged use (kernel.unprivileged_bpf_disabled,
//     kernel.perf_event_paranoid, vm.unprivileged_userfaultfd), which machines
//     set differently. userfaultfd(2) lets a process stop the kernel in the
//     middle of a copy from its memory, for as long as it likes, which makes
//     races easy to win.
//   - personality: READ_IMPLIES_EXEC makes readable memory executable.
//     MMAP_PAGE_ZERO maps page zero at the next execve(2): personality(2).
func DenyPrivilege() Profile {
	rules := []Rule{
		{Calls: []string{"ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd"},
			Action: Errno(ePERM), Why: "reads or steers another process"},
		{Calls: []string{"mount", "umount2", "pivot_root", "chroot", "mount_setattr", "move_mount", "open_tree", "open_tree_attr", "fsopen", "fsconfig", "fsmount", "fspick"},
			Action: Errno(ePERM), Why: "changes what paths mean"},
		{Calls: []string{"prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"}, When: []Cond{{Arg: 0, Op: Equal, Value: initPID}},
			Action: Errno(ePERM), Why: "lowers the limits or the priority of init, which has the command's user id: prlimit(2) asks for no more"},
		{Calls: []string{"fanotify_init", "fanotify_mark"},
			Action: Errno(ePERM), Why: "tells which files of a shared directory the host's processes open, with their pids (unprivileged since Linux 5.13)"},
		{Calls: []string{"setns", "listns"},
			Action: Errno(ePERM), Why: "reaches another namespace"},
		{Calls: []string{"unshare"}, When: []Cond{{Arg: 0, Op: AnyBit, Value: ^uint64(unshareHarmless)}},
			Action: Errno(ePERM), Why: "makes a namespace, in which the caller would hold every capability"},
		{Calls: []string{"clone"}, When: []Cond{{Arg: 0, Op: AnyBit, Value: cloneNamespaces}},
			Action: Errno(ePERM), Why: "makes a namespace, in which the caller would hold every capability"},
		{Calls: []string{"clone3"},
			Action: Errno(eNOSYS), Why: "its flags are in memory, where a filter cannot look; callers fall back to clone"},
		{Calls: []string{"keyctl", "add_key", "request_key"},
			Action: Errno(ePERM), Why: "keyrings are not namespaced (CVE-2016-0728)"},
		{Calls: []string{"bpf", "perf_event_open", "userfaultfd"},
			Action: Errno(ePERM), Why: "kernel interfaces that exploits are built on"},
		{Calls: []string{"io_uring_setup", "io_uring_enter", "io_uring_register"},
			Action: Errno(eNOSYS), Why: "performs calls that no filter sees; callers fall back to epoll"},
		{Calls: []string{"kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot"},
			Action: Errno(ePERM), Why: "replaces or stops the kernel"},
		{Calls: []string{"swapon", "swapoff", "quotactl", "quotactl_fd", "acct", "vhangup"},
			Action: Errno(ePERM), Why: "administers the machine"},
		{Calls: []string{"settimeofday", "clock_settime", "clock_adjtime", "sethostname", "setdomainname"},
			Action: Errno(ePERM), Why: "changes the machine's clock or name"},
		{Calls: []string{"iopl", "ioperm"},
			Action: Errno(ePERM), Why: "drives hardware"},
		{Calls: []string{"syslog", "lookup_dcookie"},
			Action: Errno(ePERM), Why: "reads the host kernel's log and profile"},
		{Calls: []string{"open_by_handle_at"},
			Action: Errno(ePERM), Why: "opens a file by number, wherever it is (CVE-2014-3519)"},
		{Calls: []string{"_sysctl", "uselib", "nfsservctl", "modify_ldt"},
			Action: Errno(eNOSYS), Why: "obsolete; nothing built today needs it"},
		{Calls: []string{"mknod"}, When: []Cond{{Arg: 1, Op: MaskedEqual, Mask: sIFMT, Value: sIFCHR}},
			Action: Errno(ePERM), Why: "makes a device"},
		{Calls: []string{"mknod"}, When: []Cond{{Arg: 1, Op: MaskedEqual, Mask: sIFMT, Value: sIFBLK}},
			Action: Errno(ePERM), Why: "makes a device"},
		{Calls: []string{"mknodat"}, When: []Cond{{Arg: 2, Op: MaskedEqual, Mask: sIFMT, Value: sIFCHR}},
			Action: Errno(ePERM), Why: "makes a device"},
		{Calls: []string{"mknodat"}, When: []Cond{{Arg: 2, Op: MaskedEqual, Mask: sIFMT, Value: sIFBLK}},
			Action: Errno(ePERM), Why: "makes a device"},
		{Calls: []string{"personality"}, When: noneOf(0, perLinux, perLinux32, perUname26, perUname26|perLinux32, perNoRandomize, personalityQuery),
			Action: Errno(ePERM), Why: "brings back executable data or a mappable page zero (CVE-2009-1895)"},
	}
	rules = append(rules, terminalRules()...)
	rules = append(rules, setuidRules()...)
	return Profile{Name: DenyPrivilegeName, Default: Allow, Rules: append(rules, socketRules()...)}
}

// tracing are the calls with which one process reads or controls another:
// ptrace(2), process_vm_readv(2). The kernel requires the same user and, with
// Landlock, a process in the same domain or below it, which excludes every
// process outside the command.
var tracing = []string{"ptrace", "process_vm_readv", "process_vm_writev"}

// namespaces are the calls with which a process creates and joins namespaces
// that its own user namespace owns; mounts are those with which it mounts in
// them. The kernel requires capabilities in the user namespace that owns what
// is changed, and the command has none in its own: user_namespaces(7).
var (
	namespaces = []string{"unshare", "clone", "setns", "chroot", "sethostname", "setdomainname"}
	mounts     = []string{"mount", "umount2", "pivot_root", "mount_setattr", "move_mount", "open_tree", "open_tree_attr", "fsopen", "fsconfig", "fsmount", "fspick"}
)

// Openings are the parts of what [DenyPrivilege] denies that a command needs.
// They weaken the second line only: what the kernel asks of the caller stays.
type Openings struct {
	Tracing    bool // of its own processes
	Namespaces bool // in user namespaces of its own
	Mounts     bool // there
}

// DenyPrivilegeBut returns [DenyPrivilege] without the rules that the openings
// remove.
//
// Without its rules on [tracing], debuggers can trace what the command itself
// has started. A tracee inherits the filter, and the kernel applies it after a
// tracer has changed the call (Linux 4.8, commit 93e35efb8de4), so tracing
// gives access to nothing that the command could not call itself.
//
// Without the rules on namespaces, and on mounts in them, two kinds remain
// denied: cgroup namespaces, because in one a process could mount a cgroup file
// system, where the limits of the command and of the other processes in its
// cgroup are files that the caller owns; and time namespaces, which nothing
// needs.
func DenyPrivilegeBut(o Openings) Profile {
	p := DenyPrivilege()
	var open []string
	if o.Tracing {
		open = append(open, tracing...)
	}
	if o.Namespaces || o.Mounts {
		open = append(open, namespaces...)
	}
	if o.Mounts {
		open = append(open, mounts...)
	}
	for i := range p.Rules {
		p.Rules[i].Calls = slices.DeleteFunc(slices.Clone(p.Rules[i].Calls), func(call string) bool { return slices.Contains(open, call) })
	}
	if o.Namespaces || o.Mounts {
		for call, flags := range map[string]uint64{"unshare": ^uint64(unshareHarmless | cloneNamespaces&^cloneNewCgroup), "clone": cloneNewCgroup} {
			p.Rules = append(p.Rules, Rule{Calls: []string{call}, When: []Cond{{Arg: 0, Op: AnyBit, Value: flags}}, Action: Errno(ePERM), Why: "makes a cgroup namespace, in which cgroups are mounted"})
		}
	}
	return p
}

// setuidRules keep the command from leaving behind a program that gives the
// caller's identity to whoever runs it: the work space belongs to the host,
// where no nosuid mount protects it (CVE-2019-3843, CVE-2019-3844;
// systemd.exec(5), RestrictSUIDSGID=). Set-group-ID bits remain possible,
// because shared directories use them; [NoSetGroupID] denies them as well. A
// bit that was there before stays, and a file that is renamed keeps it. In a
// directory with the set-group-ID bit, new directories get that bit from the
// kernel, which no filter sees.
func setuidRules() []Rule {
	return append(modeRules(sISUID, "leaves a set-user-ID program on the host"),
		Rule{Calls: []string{"openat2"}, Action: Errno(eNOSYS), Why: "its mode is in memory, where a filter cannot look; callers fall back to openat"})
}

// modeRules deny every call that sets a given mode bit on a file. mkdir(2) is
// missing: the kernel ignores the set-user-ID and set-group-ID bits of its
// mode. openat2(2) must be denied elsewhere, since its mode is in memory.
func modeRules(bit uint64, why string) []Rule {
	var rules []Rule
	for call, mode := range map[string]int{"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "creat": 1, "mknod": 1, "mknodat": 2} {
		rules = append(rules, Rule{Calls: []string{call}, When: []Cond{{Arg: mode, Op: AnyBit, Value: bit}}, Action: Errno(ePERM), Why: why})
	}
	for call, flags := range map[string]int{"open": 1, "openat": 2} {
		rules = append(rules, Rule{Calls: []string{call}, Action: Errno(ePERM), Why: why, // there is no mode without one of the flags
			When: []Cond{{Arg: flags, Op: AnyBit, Value: oCreat | oTmpfile}, {Arg: flags + 1, Op: AnyBit, Value: bit}}})
	}
	slices.SortFunc(rules, func(a, b Rule) int { return strings.Compare(a.Calls[0], b.Calls[0]) })
	return rules
}

// terminalRules deny injecting input into the terminal that the sandbox shares
// with the user. Since Linux 6.2 the kernel can refuse TIOCSTI by itself
// (dev.tty.legacy_tiocsti); older ones need a controlling terminal only. The
// request is an unsigned int, so the filter compares 32 bits: CVE-2019-7303.
func terminalRules() []Rule {
	ioctl := []string{"ioctl"}
	return []Rule{
		{Calls: ioctl, When: []Cond{{Arg: 1, Op: Equal, Value: tiocsti}},
			Action: Errno(ePERM), Why: "types into the user's terminal (CVE-2016-2779, CVE-2017-5226)"},
		{Calls: ioctl, When: []Cond{{Arg: 1, Op: Equal, Value: tioclinux}},
			Action: Errno(ePERM), Why: "pastes into the user's console (CVE-2023-1523)"},
		{Calls: ioctl, When: []Cond{{Arg: 1, Op: Equal, Value: tiocsetd}},
			Action: Errno(ePERM), Why: "loads a line discipline (CVE-2017-2636, CVE-2023-6546)"},
	}
}

// socketRules allow the address families and protocols that programs use, and
// deny the others like a kernel without them. Landlock's TCP rules do not cover
// MPTCP, SMC and SCTP sockets, so those remain denied here. The errno is the
// one of socket(2) for a family or protocol that the kernel lacks, on which
// programs go on without it. An existing socket that is passed in (SCM_RIGHTS)
// is not affected.
func socketRules() []Rule {
	socket := []string{"socket"}
	rules := []Rule{
		{Calls: []string{"socket", "socketpair"}, When: noneOf(0, afUnix, afInet, afInet6, afNetlink),
			Action: Errno(eAFNOSUPPORT), Why: "no AF_VSOCK, AF_PACKET, AF_ALG, AF_KEY, AF_XDP, AF_BLUETOOTH …"},
		{Calls: socket, When: []Cond{{Arg: 0, Op: Equal, Value: afNetlink}, {Arg: 2, Op: NotEqual, Value: netlinkRoute}},
			Action: Errno(ePROTONOSUPPORT), Why: "of netlink only NETLINK_ROUTE, for getifaddrs(3)"},
	}
	for _, family := range []uint64{afInet, afInet6} {
		for _, kind := range []uint64{sockRaw, sockPacket} {
			rules = append(rules, Rule{Calls: socket, Action: Errno(ePERM), Why: "no raw packets",
				When: []Cond{{Arg: 0, Op: Equal, Value: family}, {Arg: 1, Op: MaskedEqual, Mask: sockTypeMask, Value: kind}}})
		}
	}
	return append(rules,
		Rule{Calls: []string{"setsockopt"}, When: []Cond{{Arg: 1, Op: Equal, Value: ipprotoTCP}, {Arg: 2, Op: Equal, Value: tcpULP}},
			Action: Errno(eNOENT), Why: "turns a TCP socket into kTLS or SMC (CVE-2023-0461); callers do it themselves"},
		Rule{Calls: socket, Action: Errno(ePROTONOSUPPORT), Why: "no MPTCP, SMC, SCTP, DCCP, L2TP …",
			When: append([]Cond{{Arg: 0, Op: Equal, Value: afInet}}, noneOf(2, ipprotoIP, ipprotoICMP, ipprotoTCP, ipprotoUDP, ipprotoUDPLite)...)},
		Rule{Calls: socket, Action: Errno(ePROTONOSUPPORT), Why: "no MPTCP, SMC, SCTP, DCCP, L2TP …",
			When: append([]Cond{{Arg: 0, Op: Equal, Value: afInet6}}, noneOf(2, ipprotoIP, ipprotoTCP, ipprotoUDP, ipprotoICMPv6, ipprotoUDPLite)...)})
}

// noneOf returns conditions that are true if the argument is none of the
// values.
func noneOf(argument int, values ...uint64) []Cond {
	conds := make([]Cond, len(values))
	for i, value := range values {
		conds[i] = Cond{Arg: argument, Op: NotEqual, Value: value}
	}
	return conds
}
