package landlock

import (
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// everything asks for all there is.
func everything() Request {
	return Request{
		FS: AllFS, Net: BindTCP | ConnectTCP | BindUDP | SendUDP, Scope: AbstractUnix | Signal,
		Log: LogSameExecOff | LogNewExecOn | LogSubdomainsOff,
		Paths: []PathRule{
			{Path: "/usr", Access: Read | Execute},
			{Path: "/work", Access: AllFS},
			{Path: "/etc/passwd", Access: Read | Write, File: true},
			{Path: "/dev/null", Access: ReadFile | WriteFile | IoctlDev | MakeReg, File: true},
		},
		Ports: []PortRule{{Port: 443, Access: ConnectTCP}, {Port: 53, Access: SendUDP}},
	}
}

// missingByABI is what each ABI lacks of everything.
var missingByABI = map[int]string{
	0: "fs.execute fs.write_file fs.read_file fs.read_dir fs.remove_dir fs.remove_file fs.make_char fs.make_dir fs.make_reg fs.make_sock fs.make_fifo fs.make_block fs.make_sym fs.refer fs.truncate fs.ioctl_dev fs.resolve_unix " +
		"net.bind_tcp net.connect_tcp net.bind_udp net.connect_send_udp scope.abstract_unix_socket scope.signal log.same_exec_off log.new_exec_on log.subdomains_off",
	1:  "fs.truncate fs.ioctl_dev fs.resolve_unix net.bind_tcp net.connect_tcp net.bind_udp net.connect_send_udp scope.abstract_unix_socket scope.signal log.same_exec_off log.new_exec_on log.subdomains_off",
	2:  "fs.truncate fs.ioctl_dev fs.resolve_unix net.bind_tcp net.connect_tcp net.bind_udp net.connect_send_udp scope.abstract_unix_socket scope.signal log.same_exec_off log.new_exec_on log.subdomains_off",
	3:  "fs.ioctl_dev fs.resolve_unix net.bind_tcp net.connect_tcp net.bind_udp net.connect_send_udp scope.abstract_unix_socket scope.signal log.same_exec_off log.new_exec_on log.subdomains_off",
	4:  "fs.ioctl_dev fs.resolve_unix net.bind_udp net.connect_send_udp scope.abstract_unix_socket scope.signal log.same_exec_off log.new_exec_on log.subdomains_off",
	5:  "fs.resolve_unix net.bind_udp net.connect_send_udp scope.abstract_unix_socket scope.signal log.same_exec_off log.new_exec_on log.subdomains_off",
	6:  "fs.resolve_unix net.bind_udp net.connect_send_udp log.same_exec_off log.new_exec_on log.subdomains_off",
	7:  "fs.resolve_unix net.bind_udp net.connect_send_udp",
	8:  "fs.resolve_unix net.bind_udp net.connect_send_udp",
	9:  "net.bind_udp net.connect_send_udp",
	10: "",
	11: "",
	99: "",
}

func TestBuildReportsWhatAnABILacks(t *testing.T) {
	for abi, want := range missingByABI {
		rules, report := Build(abi, everything())
		if got := strings.Join(report.Missing, " "); got != want {
			t.Errorf("ABI %d misses %q, want %q", abi, got, want)
		}
		if report.Full() != (want == "") {
			t.Errorf("ABI %d: Full() = %v", abi, report.Full())
		}
		if report.ABI != min(abi, NewestABI) {
			t.Errorf("ABI %d: reported as %d", abi, report.ABI)
		}
		union := slices.Concat(report.Enforced, report.Missing, report.Stricter)
		slices.Sort(union)
		if asked := slices.Sorted(slices.Values(report.Asked)); !slices.Equal(union, asked) {
			t.Errorf("ABI %d: enforced, missing and stricter are %q, asked was %q", abi, union, asked)
		}
		if rules.Empty() != (abi == 0) {
			t.Errorf("ABI %d: Empty() = %v", abi, rules.Empty())
		}
	}
}

// TestRulesAreWithinHandled is what the kernel demands of every rule, with EINVAL or ENOMSG otherwise.
func TestRulesAreWithinHandled(t *testing.T) {
	for abi := -1; abi <= 20; abi++ {
		rules, _ := Build(abi, everything())
		for _, p := range rules.Paths {
			if p.Access == 0 || uint64(p.Access)&^rules.Attr.HandledAccessFS != 0 || p.File && p.Access&^fileRights != 0 {
				t.Errorf("ABI %d: rule for %s has %v", abi, p.Path, p.Access.Names())
			}
		}
		for _, p := range rules.Ports {
			if p.Access == 0 || uint64(p.Access)&^rules.Attr.HandledAccessNet != 0 {
				t.Errorf("ABI %d: rule for port %d has %#x", abi, p.Port, p.Access)
			}
		}
	}
}

func TestBuildMasksRights(t *testing.T) {
	rules, _ := Build(3, everything())
	want := []PathRule{
		{Path: "/usr", Access: Read | Execute},
		{Path: "/work", Access: AllFS &^ (IoctlDev | ResolveUnix)},
		{Path: "/etc/passwd", Access: ReadFile | WriteFile | Truncate, File: true},
		{Path: "/dev/null", Access: ReadFile | WriteFile, File: true},
	}
	if diff := cmp.Diff(want, rules.Paths); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	if rules.Ports != nil || rules.Flags != 0 {
		t.Errorf("ports %v and flags %#x, which ABI 3 does not know", rules.Ports, rules.Flags)
	}
}

// TestReferOnABI1 : the first ABI denies what Refer would allow; that is stricter than asked, not less.
func TestReferOnABI1(t *testing.T) {
	_, report := Build(1, Request{FS: Write, Paths: []PathRule{{Path: "/work", Access: Write}}})
	if !slices.Equal(report.Stricter, []string{"fs.refer"}) || slices.Contains(report.Missing, "fs.refer") {
		t.Errorf("stricter %q, missing %q", report.Stricter, report.Missing)
	}
}

func TestBuildLeavesTheRequest(t *testing.T) {
	request := everything()
	Build(1, request)
	if diff := cmp.Diff(everything(), request); diff != "" {
		t.Errorf("the request was changed:\n%s", diff)
	}
}

// TestLayouts holds the structs to linux/landlock.h; landlock_path_beneath_attr is packed.
func TestLayouts(t *testing.T) {
	if size := unsafe.Sizeof(ll.RulesetAttr{}); size != 48 {
		t.Errorf("landlock_ruleset_attr has %d bytes, want 48 (ABI 10)", size)
	}
	if size := unsafe.Sizeof(ll.NetPortAttr{}); size != 16 {
		t.Errorf("landlock_net_port_attr has %d bytes, want 16", size)
	}
}
