package landlock

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/sandbox/kernel/steps"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// The tests in this file restrict a child, the test binary itself, and let it attack. Its last line is a marker, so
// that a child that died is never taken for one that was refused nothing.

const (
	childEnv = "ETHOS_LANDLOCK_TEST_CHILD"
	marker   = "the child came to its end"
)

func TestMain(m *testing.M) {
	if job := os.Getenv(childEnv); job != "" {
		attackAll(job)
	}
	m.Run()
}

type job struct {
	Confine bool
	Request Request
	Open    string // opened for reading before the restriction, as descriptor beforehand
	Attacks []attack
}

// beforehand is the descriptor of job.Open.
const beforehand = 99

// attack is one thing a confined process tries. With Path "@PID" the test's own process is meant.
type attack struct{ What, Path, Other string }

func attackAll(text string) {
	runtime.LockOSThread()
	var j job
	fatal(json.Unmarshal([]byte(text), &j))
	if j.Open != "" {
		fd, err := unix.Open(j.Open, unix.O_RDONLY, 0)
		fatal(err)
		fatal(unix.Dup3(fd, beforehand, unix.O_CLOEXEC))
	}
	if j.Confine {
		kernel, err := Probe()
		fatal(err)
		rules, _ := Build(kernel.ABI, j.Request)
		fd, err := rules.Create()
		fatal(err)
		fatal(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		fatal(ll.LandlockRestrictSelf(fd, rules.Flags))
	}
	for _, a := range j.Attacks {
		fmt.Println(int(a.errno()))
	}
	fmt.Println(marker)
	os.Exit(0)
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

// errno performs the attack on this thread.
func (a attack) errno() syscall.Errno {
	switch a.What {
	case "read":
		return open(a.Path, unix.O_RDONLY)
	case "list":
		return open(a.Path, unix.O_RDONLY|unix.O_DIRECTORY)
	case "write":
		return open(a.Path, unix.O_WRONLY)
	case "create":
		return open(a.Path, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)
	case "truncate":
		return number(unix.Truncate(a.Path, 0))
	case "open and truncate":
		return open(a.Path, unix.O_RDONLY|unix.O_TRUNC)
	case "read by descriptor":
		_, err := unix.Pread(beforehand, make([]byte, 1), 0)
		return number(err)
	case "reopen for writing":
		return open(fmt.Sprintf("/proc/self/fd/%d", beforehand), unix.O_WRONLY)
	case "link a nameless file":
		return linkNameless(a.Path, a.Other)
	case "make a device":
		return number(unix.Mknod(a.Path, unix.S_IFCHR|0o600, 0))
	case "mount":
		return number(unix.Mount("none", a.Path, "tmpfs", 0, ""))
	case "trace":
		pid, err := strconv.Atoi(a.Path)
		fatal(err)
		return number(unix.PtraceAttach(pid))
	case "execute":
		return number(unix.Exec(a.Path, []string{a.Path}, nil)) // comes back only when refused
	case "unlink":
		return number(unix.Unlink(a.Path))
	case "mkdir":
		return number(unix.Mkdir(a.Path, 0o755))
	case "rmdir":
		return number(unix.Rmdir(a.Path))
	case "symlink":
		return number(unix.Symlink("anywhere", a.Path))
	case "fifo":
		return number(unix.Mkfifo(a.Path, 0o644))
	case "rename":
		return number(unix.Rename(a.Path, a.Other))
	case "link":
		return number(unix.Link(a.Path, a.Other))
	case "bind unix":
		return unixSocket(a.Path, unix.Bind)
	case "connect unix":
		return unixSocket(a.Path, unix.Connect)
	case "connect abstract":
		return unixSocket("@"+a.Path, unix.Connect)
	case "connect tcp":
		return connectTCP(a.Path)
	case "bind tcp":
		return bindTCP(a.Path)
	case "signal":
		pid, err := strconv.Atoi(a.Path)
		fatal(err)
		return number(unix.Kill(pid, 0))
	}
	fatal(fmt.Errorf("unknown attack %q", a.What))
	return 0
}

func open(path string, flags int) syscall.Errno {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o644)
	if err == nil {
		unix.Close(fd)
	}
	return number(err)
}

// linkNameless makes a file without a name in one directory and gives it one in another: open(2), O_TMPFILE.
func linkNameless(directory, name string) syscall.Errno {
	fd, err := unix.Open(directory, unix.O_TMPFILE|unix.O_WRONLY, 0o644)
	if err != nil {
		return number(err)
	}
	defer unix.Close(fd)
	return number(unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW))
}

func unixSocket(address string, do func(int, unix.Sockaddr) error) syscall.Errno {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	fatal(err)
	defer unix.Close(fd)
	return number(do(fd, &unix.SockaddrUnix{Name: address}))
}

func connectTCP(port string) syscall.Errno {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	fatal(err)
	defer unix.Close(fd)
	return number(unix.Connect(fd, loopback(port)))
}

func bindTCP(port string) syscall.Errno {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	fatal(err)
	defer unix.Close(fd)
	return number(unix.Bind(fd, loopback(port)))
}

func loopback(port string) *unix.SockaddrInet4 {
	n, err := strconv.Atoi(port)
	fatal(err)
	return &unix.SockaddrInet4{Port: n, Addr: [4]byte{127, 0, 0, 1}}
}

func number(err error) syscall.Errno {
	if err == nil {
		return 0
	}
	return err.(syscall.Errno)
}

func runChild(t *testing.T, j job) []string {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if lines[len(lines)-1] != marker || len(lines) != len(j.Attacks)+1 {
		t.Fatalf("%d attacks, and the child printed %q", len(j.Attacks), out)
	}
	return lines[:len(lines)-1]
}

// needABI states the need landlock, or for a later version than the first landlock-abi-N: an older kernel has only the former.
func needABI(t *testing.T, abi int) {
	t.Helper()
	need := "landlock"
	if abi > 1 {
		need = fmt.Sprintf("landlock-abi-%d", abi)
	}
	probetest.NeedFunc(t, need, func() string {
		kernel, err := Probe()
		if err != nil {
			return err.Error()
		}
		if kernel.ABI < abi {
			return fmt.Sprintf("ABI %d, the test is about ABI %d", kernel.ABI, abi)
		}
		return ""
	})
}

// world is a tree with a granted directory, a second one in it, a granted file, and everything outside.
func world(t *testing.T) (root string, request Request) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"in/sub", "in/old", "ro", "out/old"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"in/f", "in/g", "in/h", "ro/f", "out/f", "out/g", "one"} {
		if err := os.WriteFile(filepath.Join(root, file), []byte("text\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root, Request{FS: AllFS, Paths: []PathRule{
		{Path: root + "/in", Access: AllFS &^ Execute},
		{Path: root + "/ro", Access: Read},
		{Path: root + "/one", Access: ReadFile | WriteFile | Truncate, File: true},
	}}
}

// fileAttacks are tried in this order; refused is the errno that the confined child meets, and the same attack with
// other paths is the twin that succeeds.
var fileAttacks = []struct {
	attack
	abi     int
	refused syscall.Errno
}{
	{attack{"read", "out/f", ""}, 1, unix.EACCES},
	{attack{"read", "in/f", ""}, 1, 0},
	{attack{"read", "ro/f", ""}, 1, 0},
	{attack{"read", "one", ""}, 1, 0},
	{attack{"read", "in/../out/f", ""}, 1, unix.EACCES},
	{attack{"read", "/proc/self/root/etc/passwd", ""}, 1, unix.EACCES},
	{attack{"list", "out", ""}, 1, unix.EACCES},
	{attack{"list", "in", ""}, 1, 0},
	{attack{"list", "ro", ""}, 1, 0},
	{attack{"write", "out/f", ""}, 1, unix.EACCES},
	{attack{"write", "ro/f", ""}, 1, unix.EACCES},
	{attack{"write", "in/f", ""}, 1, 0},
	{attack{"write", "one", ""}, 1, 0},
	{attack{"create", "out/new", ""}, 1, unix.EACCES},
	{attack{"create", "ro/new", ""}, 1, unix.EACCES},
	{attack{"create", "in/new", ""}, 1, 0},
	{attack{"truncate", "ro/f", ""}, 3, unix.EACCES},
	{attack{"truncate", "in/f", ""}, 3, 0},
	{attack{"execute", "in/f", ""}, 1, unix.EACCES},
	{attack{"mkdir", "out/dir", ""}, 1, unix.EACCES},
	{attack{"mkdir", "in/dir", ""}, 1, 0},
	{attack{"rmdir", "out/old", ""}, 1, unix.EACCES},
	{attack{"rmdir", "in/old", ""}, 1, 0},
	{attack{"symlink", "out/l", ""}, 1, unix.EACCES},
	{attack{"symlink", "in/l", ""}, 1, 0},
	{attack{"fifo", "out/p", ""}, 1, unix.EACCES},
	{attack{"fifo", "in/p", ""}, 1, 0},
	{attack{"rename", "in/f", "out/moved"}, 2, unix.EACCES},
	{attack{"rename", "out/f", "in/moved"}, 2, unix.EACCES},
	{attack{"rename", "in/f", "in/sub/moved"}, 2, 0},
	{attack{"link", "out/f", "in/stolen"}, 2, unix.EXDEV},
	{attack{"link", "in/g", "in/sub/linked"}, 2, 0},
	{attack{"bind unix", "out/s", ""}, 1, unix.EACCES},
	{attack{"bind unix", "in/s", ""}, 1, 0},
	{attack{"open and truncate", "ro/f", ""}, 3, unix.EACCES},
	{attack{"open and truncate", "in/h", ""}, 3, 0},
	{attack{"read by descriptor", "", ""}, 1, 0}, // Landlock is asked at open(2) only
	{attack{"reopen for writing", "", ""}, 1, unix.EACCES},
	{attack{"link a nameless file", "out", "out/nameless"}, 1, unix.EACCES},
	{attack{"link a nameless file", "in", "out/nameless2"}, 1, unix.EACCES},
	{attack{"link a nameless file", "in", "in/nameless"}, 1, 0},
	{attack{"make a device", "out/null", ""}, 1, unix.EACCES},
	{attack{"unlink", "out/f", ""}, 1, unix.EACCES},
	{attack{"unlink", "ro/f", ""}, 1, unix.EACCES},
	{attack{"unlink", "in/g", ""}, 1, 0},
}

func TestKernelHoldsFiles(t *testing.T) {
	needABI(t, 1)
	kernel, err := Probe()
	if err != nil {
		t.Fatal(err)
	}
	root, request := world(t)
	confined := job{Confine: true, Request: request, Open: root + "/out/g"}
	var want []syscall.Errno
	for _, c := range fileAttacks {
		if c.abi <= kernel.ABI {
			confined.Attacks = append(confined.Attacks, c.in(root))
			want = append(want, c.refused)
		}
	}
	expect(t, confined, want...)
}

// TestKernelAllowsFilesWithoutRuleset is the control: what was refused above is possible without the ruleset.
func TestKernelAllowsFilesWithoutRuleset(t *testing.T) {
	needABI(t, 1)
	root, _ := world(t)
	control := job{Open: root + "/out/g"}
	for _, c := range fileAttacks {
		if c.refused != 0 && c.What != "execute" && (c.What != "make a device" || os.Geteuid() == 0) {
			control.Attacks = append(control.Attacks, c.in(root))
		}
	}
	for i, got := range runChild(t, control) {
		if got != "0" && got != fmt.Sprint(int(unix.ENOENT)) { // an earlier attack took it away
			t.Errorf("%v: errno %s", control.Attacks[i], got)
		}
	}
}

// in returns the attack on the world at root.
func (a attack) in(root string) attack { return attack{a.What, at(root, a.Path), at(root, a.Other)} }

func at(root, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return root + "/" + path
}

func TestKernelHoldsPorts(t *testing.T) {
	needABI(t, 4)
	open, shut := listen(t), listen(t)
	request := Request{Net: BindTCP | ConnectTCP, Ports: []PortRule{{Port: port(t, open), Access: ConnectTCP}, {Port: 0, Access: BindTCP}}}
	attacks := []attack{{"connect tcp", portText(t, shut), ""}, {"connect tcp", portText(t, open), ""}, {"bind tcp", "1234", ""}, {"bind tcp", "0", ""}}
	expect(t, job{Confine: true, Request: request, Attacks: attacks}, unix.EACCES, 0, unix.EACCES, 0)
	expect(t, job{Attacks: attacks[:2]}, 0, 0)
}

func TestKernelHoldsScopes(t *testing.T) {
	needABI(t, 6)
	name := fmt.Sprintf("ethos-landlock-test-%d", os.Getpid())
	listener, err := net.Listen("unix", "@"+name)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	attacks := []attack{{"connect abstract", name, ""}, {"signal", strconv.Itoa(os.Getpid()), ""}}
	expect(t, job{Confine: true, Request: Request{Scope: AbstractUnix | Signal}, Attacks: attacks}, unix.EPERM, unix.EPERM)
	expect(t, job{Attacks: attacks}, 0, 0)
}

// TestKernelHoldsSockets : a socket file that was made outside is connected to only where a rule says so, by whatever path.
func TestKernelHoldsSockets(t *testing.T) {
	needABI(t, 9)
	dir := t.TempDir()
	shut, open := filepath.Join(dir, "shut"), filepath.Join(dir, "open")
	for _, path := range []string{shut, open} {
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
	request := Request{FS: ResolveUnix, Paths: []PathRule{{Path: open, Access: ResolveUnix, File: true}}}
	attacks := []attack{{"connect unix", shut, ""}, {"connect unix", "/proc/self/root" + shut, ""}, {"connect unix", open, ""}}
	expect(t, job{Confine: true, Request: request, Attacks: attacks}, unix.EACCES, unix.EACCES, 0)
	expect(t, job{Attacks: attacks}, 0, 0, 0)
}

// TestKernelHoldsRoot : what needs privilege is refused by Landlock also to who has it.
func TestKernelHoldsRoot(t *testing.T) {
	needABI(t, 1)
	probetest.Need(t, "root")
	root, request := world(t)
	attacks := []attack{{"mount", root + "/in", ""}, {"trace", strconv.Itoa(os.Getpid()), ""}}
	expect(t, job{Confine: true, Request: request, Attacks: attacks}, unix.EPERM, unix.EPERM)
}

func expect(t *testing.T, j job, want ...syscall.Errno) {
	t.Helper()
	for i, got := range runChild(t, j) {
		if got != fmt.Sprint(int(want[i])) {
			t.Errorf("confined %v: %v: errno %s, want %d (%v)", j.Confine, j.Attacks[i], got, int(want[i]), want[i])
		}
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func port(t *testing.T, l net.Listener) uint16 {
	t.Helper()
	return l.Addr().(*net.TCPAddr).AddrPort().Port()
}

func portText(t *testing.T, l net.Listener) string { return strconv.Itoa(int(port(t, l))) }

func TestCreateNamesTheMissingPath(t *testing.T) {
	needABI(t, 1)
	rules, _ := Build(1, Request{FS: ReadFile, Paths: []PathRule{{Path: "/nowhere/at/all", Access: ReadFile}}})
	if _, err := rules.Create(); err == nil || !strings.Contains(err.Error(), "/nowhere/at/all") {
		t.Errorf("error %v", err)
	}
}

// TestCreateRejectsSymlink : a rule must be about the path that was judged, not about where a link leads.
func TestCreateRejectsSymlink(t *testing.T) {
	needABI(t, 1)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("/etc", link); err != nil {
		t.Fatal(err)
	}
	rules, _ := Build(1, Request{FS: ReadFile, Paths: []PathRule{{Path: link, Access: ReadFile}}})
	if _, err := rules.Create(); err == nil {
		t.Error("a symbolic link was followed")
	}
}

// TestKernelTakesEveryABI : what Build makes for an older ABI is accepted by this kernel as it is.
func TestKernelTakesEveryABI(t *testing.T) {
	needABI(t, 1)
	kernel, err := Probe()
	if err != nil {
		t.Fatal(err)
	}
	request := everything()
	request.Paths = []PathRule{{Path: "/", Access: AllFS}, {Path: "/dev/null", Access: AllFS, File: true}}
	for abi := 1; abi <= kernel.ABI; abi++ {
		rules, _ := Build(abi, request)
		fd, err := rules.Create()
		if err != nil {
			t.Errorf("ABI %d: %v", abi, err)
			continue
		}
		unix.Close(fd)
	}
}

func TestPathAttrIsPacked(t *testing.T) {
	attr := PathRule{Access: FS(0x1_0000_0002)}.Attr(7)
	if size := unsafe.Sizeof(*attr); size != 12 {
		t.Errorf("landlock_path_beneath_attr has %d bytes, want 12", size)
	}
	bytes := *(*[12]byte)(unsafe.Pointer(attr))
	if want := [12]byte{2, 0, 0, 0, 1, 0, 0, 0, 7}; bytes != want {
		t.Errorf("bytes %v, want %v", bytes, want)
	}
}

func TestStepsEndWithRestriction(t *testing.T) {
	rules, _ := Build(7, everything())
	list := rules.Steps(new(steps.Slots), 100)
	var calls []string
	for _, s := range list {
		calls = append(calls, s.Call)
	}
	got := strings.Join(calls, " ")
	rule := "openat2 dup3 close landlock_add_rule "
	want := "landlock_create_ruleset " + strings.Repeat(rule, 4) + "close landlock_add_rule landlock_restrict_self close"
	if got != want {
		t.Errorf("steps %q, want %q", got, want)
	}
	if list := (Ruleset{}).Steps(new(steps.Slots), 100); list != nil {
		t.Errorf("an empty ruleset has steps %v", list)
	}
}
