package seccomp

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"ethos/pkg/internal/probetest"

	"golang.org/x/sys/unix"
)

// The tests in this file ask the kernel. The test binary starts itself as a child that installs a filter (or, as a
// control, none), makes the calls and prints what came of them; the last line is a marker, so that a child that died
// on the way is never taken for one that was refused nothing.

const (
	childEnv = "ETHOS_SECCOMP_TEST_CHILD"
	marker   = "the child came to its end"
)

func TestMain(m *testing.M) {
	if job := os.Getenv(childEnv); job != "" {
		child(job)
	}
	m.Run()
}

type childJob struct {
	Profile string // "" none, or deny-privilege
	OCI     string // the text of a profile that is stacked on it
	Attacks []attack
	Special string // a call that is not an attack of the table
}

type attack struct {
	Call string
	Args [6]uint64
}

func child(text string) {
	runtime.LockOSThread()
	var job childJob
	if err := json.Unmarshal([]byte(text), &job); err != nil {
		fail(err)
	}
	arch, err := Native()
	if err != nil {
		fail(err)
	}
	if err := confine(job, arch); err != nil {
		fail(err)
	}
	for _, a := range job.Attacks {
		n, _ := arch.NumberOf(a.Call)
		_, _, errno := unix.RawSyscall6(uintptr(n), uintptr(a.Args[0]), uintptr(a.Args[1]), uintptr(a.Args[2]), uintptr(a.Args[3]), uintptr(a.Args[4]), uintptr(a.Args[5]))
		fmt.Println(int(errno))
	}
	special(job.Special)
	fmt.Println(marker)
	os.Exit(0)
}

func confine(job childJob, arch *Arch) error {
	if job.Profile == "" {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	deny, err := DenyPrivilege().Compile(arch)
	if err != nil {
		return err
	}
	if err := deny.Install(FlagTSync); err != nil || job.OCI == "" {
		return err
	}
	p, err := ParseOCI("test", []byte(job.OCI), arch)
	if err != nil {
		return err
	}
	program, err := p.Compile(arch)
	if err != nil {
		return err
	}
	return program.Install(p.Flags | FlagTSync)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(3)
}

func special(name string) {
	switch name {
	case "x32":
		unix.RawSyscall(x32Bit|39, 0, 0, 0) // getpid
	case "int80":
		int80Getpid()
	case "minus one":
		_, _, errno := unix.RawSyscall(^uintptr(0), 0, 0, 0)
		fmt.Println(int(errno))
	case "newer":
		_, _, errno := unix.RawSyscall(uintptr(archAMD64.newest()+1), 0, 0, 0)
		fmt.Println(int(errno))
	}
}

// int80Getpid makes an i386 call from 64-bit code: mov eax, 20 (getpid); int 0x80; ret.
func int80Getpid() {
	page, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		fail(err)
	}
	copy(page, []byte{0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3})
	function := &struct{ code uintptr }{uintptr(unsafe.Pointer(&page[0]))}
	(*(*func())(unsafe.Pointer(&function)))()
}

// runChild returns the numbers the child printed before its marker, or how it died.
func runChild(t *testing.T, job childJob) ([]string, error) {
	t.Helper()
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), childEnv+"="+string(text), "GOTRACEBACK=none")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal of ours
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if lines[len(lines)-1] != marker {
		t.Fatalf("the child ended with 0 and no marker: %q", out)
	}
	return lines[:len(lines)-1], nil
}

func needSeccomp(t *testing.T) {
	t.Helper()
	probetest.NeedFunc(t, "seccomp", func() string {
		if _, err := Native(); err != nil {
			return err.Error()
		}
		allow := uint32(Allow)
		if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&allow))); errno != 0 {
			return "seccomp: " + errno.Error()
		}
		return ""
	})
}

const nowhere = 1 // an address that is never mapped

// kernelCases are calls that do nothing even when they are allowed: with the filter they meet want, and without it,
// as root, something else, which shows that it is the filter that refuses.
var kernelCases = []struct {
	attack
	want syscall.Errno
}{
	{attack{"ptrace", [6]uint64{^uint64(0)}}, unix.EPERM},
	{attack{"process_vm_readv", [6]uint64{0, 0, 0, 0, 0, 1}}, unix.EPERM},
	{attack{"process_vm_writev", [6]uint64{0, 0, 0, 0, 0, 1}}, unix.EPERM},
	{attack{"pidfd_getfd", [6]uint64{^uint64(0)}}, unix.EPERM},
	{attack{"mount", [6]uint64{nowhere, nowhere, nowhere}}, unix.EPERM},
	{attack{"umount2", [6]uint64{nowhere}}, unix.EPERM},
	{attack{"pivot_root", [6]uint64{nowhere, nowhere}}, unix.EPERM},
	{attack{"chroot", [6]uint64{nowhere}}, unix.EPERM},
	{attack{"mount_setattr", [6]uint64{0, nowhere, 0, nowhere, 999}}, unix.EPERM},
	{attack{"move_mount", [6]uint64{0, nowhere, 0, nowhere}}, unix.EPERM},
	{attack{"open_tree", [6]uint64{0, nowhere}}, unix.EPERM},
	{attack{"fsopen", [6]uint64{nowhere}}, unix.EPERM},
	{attack{"fsconfig", [6]uint64{^uint64(0)}}, unix.EPERM},
	{attack{"fsmount", [6]uint64{^uint64(0)}}, unix.EPERM},
	{attack{"fspick", [6]uint64{0, nowhere}}, unix.EPERM},
	{attack{"setns", [6]uint64{^uint64(0)}}, unix.EPERM},
	{attack{"unshare", [6]uint64{0x10000000 | 1}}, unix.EPERM},
	{attack{"clone", [6]uint64{0x10000000 | cloneThread}}, unix.EPERM}, // without CLONE_SIGHAND: EINVAL
	{attack{"clone3", [6]uint64{nowhere, 64}}, unix.ENOSYS},
	{attack{"keyctl", [6]uint64{999}}, unix.EPERM},
	{attack{"add_key", [6]uint64{nowhere, nowhere}}, unix.EPERM},
	{attack{"request_key", [6]uint64{nowhere, nowhere}}, unix.EPERM},
	{attack{"bpf", [6]uint64{999, nowhere, 8}}, unix.EPERM},
	{attack{"perf_event_open", [6]uint64{nowhere}}, unix.EPERM},
	{attack{"userfaultfd", [6]uint64{999999}}, unix.EPERM},
	{attack{"io_uring_setup", [6]uint64{1, nowhere}}, unix.ENOSYS},
	{attack{"io_uring_enter", [6]uint64{^uint64(0)}}, unix.ENOSYS},
	{attack{"io_uring_register", [6]uint64{^uint64(0), 1}}, unix.ENOSYS},
	{attack{"kexec_load", [6]uint64{0, 999, nowhere, 0xdead}}, unix.EPERM},
	{attack{"init_module", [6]uint64{nowhere, 0, nowhere}}, unix.EPERM},
	{attack{"finit_module", [6]uint64{^uint64(0)}}, unix.EPERM},
	{attack{"delete_module", [6]uint64{nowhere}}, unix.EPERM},
	{attack{"reboot", [6]uint64{0, 0, 0}}, unix.EPERM},
	{attack{"swapon", [6]uint64{nowhere}}, unix.EPERM},
	{attack{"swapoff", [6]uint64{nowhere}}, unix.EPERM},
	{attack{"quotactl", [6]uint64{0xffff, nowhere}}, unix.EPERM},
	{attack{"acct", [6]uint64{nowhere}}, unix.EPERM},
	{attack{"settimeofday", [6]uint64{nowhere}}, unix.EPERM},
	{attack{"clock_settime", [6]uint64{999, nowhere}}, unix.EPERM},
	{attack{"clock_adjtime", [6]uint64{0, nowhere}}, unix.EPERM},
	{attack{"sethostname", [6]uint64{nowhere, 1}}, unix.EPERM},
	{attack{"setdomainname", [6]uint64{nowhere, 1}}, unix.EPERM},
	{attack{"syslog", [6]uint64{999}}, unix.EPERM},
	{attack{"open_by_handle_at", [6]uint64{0, nowhere}}, unix.EPERM},
	{attack{"mknodat", [6]uint64{0, nowhere, sIFCHR | 0o600}}, unix.EPERM},
	{attack{"ioctl", [6]uint64{^uint64(0), tiocsti}}, unix.EPERM},
	{attack{"ioctl", [6]uint64{^uint64(0), junk | tiocsti}}, unix.EPERM},
	{attack{"ioctl", [6]uint64{^uint64(0), tioclinux}}, unix.EPERM},
	{attack{"socket", [6]uint64{38, 99}}, unix.EAFNOSUPPORT}, // AF_ALG
	{attack{"socket", [6]uint64{40, 99}}, unix.EAFNOSUPPORT}, // AF_VSOCK
	{attack{"socket", [6]uint64{junk | 17, 99}}, unix.EAFNOSUPPORT},
	{attack{"socket", [6]uint64{afNetlink, 99, 16}}, unix.EPROTONOSUPPORT},
	{attack{"socket", [6]uint64{afInet, sockRaw | 0x100000, 6}}, unix.EPERM},
	{attack{"socket", [6]uint64{afInet, 0x100001, 262}}, unix.EPROTONOSUPPORT},
	{attack{"personality", [6]uint64{0x100000}}, unix.EPERM},
}

// allowedTwins are the honest neighbors of the cases above; they do the same with the filter as without.
var allowedTwins = []attack{
	{"socket", [6]uint64{afUnix, 1, 0}},
	{"socket", [6]uint64{afInet, 1, 6}},
	{"socket", [6]uint64{afInet6, 2, 0}},
	{"socket", [6]uint64{afNetlink, 3, netlinkRoute}},
	{"personality", [6]uint64{0xffffffff}},
	{"unshare", [6]uint64{cloneFS}},
	{"ioctl", [6]uint64{^uint64(0), 0x5401}},
	{"mknodat", [6]uint64{0, nowhere, 0o010600}},
	{"getpid", [6]uint64{}},
	{"adjtimex", [6]uint64{nowhere}},
	{"prctl", [6]uint64{39}}, // PR_GET_NO_NEW_PRIVS
}

func TestKernelRefuses(t *testing.T) {
	needSeccomp(t)
	attacks := make([]attack, len(kernelCases))
	for i, c := range kernelCases {
		attacks[i] = c.attack
	}
	filtered := results(t, childJob{Profile: DenyPrivilegeName, Attacks: attacks})
	bare := results(t, childJob{Attacks: attacks})
	for i, c := range kernelCases {
		if want := fmt.Sprint(int(c.want)); filtered[i] != want {
			t.Errorf("%s%#x: errno %s, want %v", c.Call, c.Args, filtered[i], c.want)
		} else if os.Geteuid() == 0 && bare[i] == want && !absent(c.Call) {
			t.Errorf("%s%#x: errno %s also without a filter, so the case shows nothing", c.Call, c.Args, bare[i])
		}
	}
}

// absent are calls that a kernel may have been built without; there the filter and the kernel say the same.
func absent(call string) bool { return strings.HasPrefix(call, "io_uring_") }

func TestKernelAllowsTwins(t *testing.T) {
	needSeccomp(t)
	filtered := results(t, childJob{Profile: DenyPrivilegeName, Attacks: allowedTwins})
	bare := results(t, childJob{Attacks: allowedTwins})
	for i, a := range allowedTwins {
		if filtered[i] != bare[i] {
			t.Errorf("%s%#x: errno %s with the filter, %s without", a.Call, a.Args, filtered[i], bare[i])
		}
	}
}

func results(t *testing.T, job childJob) []string {
	t.Helper()
	got, err := runChild(t, job)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(job.Attacks) {
		t.Fatalf("%d results for %d calls", len(got), len(job.Attacks))
	}
	return got
}

func TestKernelKillsForeignCalls(t *testing.T) {
	needSeccomp(t)
	if runtime.GOARCH != "amd64" {
		t.Log("x32 and int 0x80 exist on amd64 only")
		return
	}
	for _, name := range []string{"x32", "int80"} {
		_, err := runChild(t, childJob{Profile: DenyPrivilegeName, Special: name})
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != unix.SIGSYS {
			t.Errorf("%s: %v, want death by SIGSYS", name, err)
		}
	}
	for _, name := range []string{"minus one", "newer"} {
		got, err := runChild(t, childJob{Profile: DenyPrivilegeName, Special: name})
		if err != nil || len(got) != 1 || got[0] != fmt.Sprint(int(unix.ENOSYS)) {
			t.Errorf("%s: %v, %v, want ENOSYS", name, got, err)
		}
	}
}

// TestKernelStacksProfiles : a profile file narrows the default one and cannot widen it.
func TestKernelStacksProfiles(t *testing.T) {
	needSeccomp(t)
	const profile = `{"defaultAction":"SCMP_ACT_ALLOW","flags":["SECCOMP_FILTER_FLAG_LOG"],"syscalls":[
		{"names":["getpriority"],"action":"SCMP_ACT_ERRNO","errnoRet":95,"args":[{"index":0,"value":1,"op":"SCMP_CMP_EQ"}]},
		{"names":["mount","clone3"],"action":"SCMP_ACT_ALLOW"}]}`
	got := results(t, childJob{Profile: DenyPrivilegeName, OCI: profile, Attacks: []attack{
		{"getpriority", [6]uint64{junk | 1}}, {"getpriority", [6]uint64{0}}, {"mount", [6]uint64{nowhere, nowhere, nowhere}}, {"clone3", [6]uint64{nowhere, 64}},
	}})
	for i, want := range []syscall.Errno{unix.EOPNOTSUPP, 0, unix.EPERM, unix.ENOSYS} {
		if got[i] != fmt.Sprint(int(want)) {
			t.Errorf("call %d: errno %s, want %v", i, got[i], want)
		}
	}
}

// TestKernelTakesEveryProfile : the kernel's own checks accept whatever this package compiles.
func TestKernelTakesEveryProfile(t *testing.T) {
	needSeccomp(t)
	for _, c := range ociGood {
		if runtime.GOARCH != "amd64" || strings.Contains(c.text, `"defaultAction":"SCMP_ACT_ERRNO"`) || strings.Contains(c.text, `"names":["read"],"action":"SCMP_ACT_KILL"`) {
			continue // the child itself could not go on
		}
		if _, err := runChild(t, childJob{Profile: DenyPrivilegeName, OCI: c.text}); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestInstallRejectsEmpty(t *testing.T) {
	if err := (Program{}).Install(0); err == nil {
		t.Error("an empty program was installed")
	}
}
