package notify

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/sandbox/kernel/landlock"
	"ethos/pkg/sandbox/kernel/seccomp"
)

// clientEnv makes this program a confined client, which tries one of clients.
const clientEnv = "ETHOS_NOTIFY_CLIENT"

func TestMain(m *testing.M) {
	if name := os.Getenv(clientEnv); name != "" {
		os.Exit(client(name))
	}
	os.Exit(m.Run())
}

// client installs the filter on every thread, gives the listener to its parent by its number, waits for a word, and tries.
func client(name string) int {
	runtime.LockOSThread()
	program, err := Filter(name == "datagrams").Compile(must(seccomp.Native()))
	if err == nil {
		err = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	}
	if err != nil {
		fmt.Println(err)
		return 3
	}
	const tsyncESRCH = 1 << 4 // SECCOMP_FILTER_FLAG_TSYNC_ESRCH (Linux 5.7)
	fd, _, e := unix.Syscall(unix.SYS_SECCOMP, seccomp.SetModeFilter, uintptr(seccomp.FlagNewListener|seccomp.FlagTSync|tsyncESRCH), uintptr(unsafe.Pointer(program.Fprog())))
	if e != 0 {
		fmt.Println(e)
		return 3
	}
	fmt.Println(fd)
	os.Stdin.Read(make([]byte, 1))
	if err := clients[name](os.Args[1:]); err != nil {
		fmt.Println(name+":", err)
		return 1
	}
	fmt.Println("done")
	return 0
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// transcript is what a client says on both of its streams.
type transcript struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *transcript) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *transcript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// confined starts a client in user and network namespaces of its own, as what runs in a sandbox is, with its answers, and returns what it said.
func confined(t *testing.T, name string, change func(*exec.Cmd, *Options), args ...string) string {
	t.Helper()
	probetest.Need(t, probetest.UserNS)
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), clientEnv+"="+name)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
	}
	o := Options{}
	if change != nil {
		change(cmd, &o)
	}
	said := &transcript{}
	in, out := must(cmd.StdinPipe()), must(cmd.StdoutPipe())
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	var number int
	if _, err := fmt.Fscanln(out, &number); err != nil {
		t.Fatalf("no listener: %v %s", err, said)
	}
	pidfd := must(unix.PidfdOpen(cmd.Process.Pid, 0))
	defer unix.Close(pidfd)
	judge := New(o)
	defer judge.Close()
	if err := judge.Start(must(unix.PidfdGetfd(pidfd, number, 0)), cmd.Process.Pid, nil); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer late.Stop()
	in.Write([]byte{1})
	text := make([]byte, 4096)
	for {
		n, err := out.Read(text)
		said.Write(text[:n])
		if err != nil {
			return said.String()
		}
	}
}

func serve(path string) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if err == nil {
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				c.Close()
			}
		}()
	}
	return l, err
}

func stream(flags int) int { return must(unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|flags, 0)) }

func datagram() int { return must(unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)) }

// wants is an error unless got is the errno.
func wants(got, want error) error {
	if errors.Is(got, want) || got == nil && want == nil {
		return nil
	}
	return fmt.Errorf("%v, not %v", got, want)
}

var clients = map[string]func(args []string) error{
	"reach": func(args []string) error { // its own server, then the one of the host
		if _, err := serve("own"); err != nil {
			return err
		}
		if err := unix.Connect(stream(0), &unix.SockaddrUnix{Name: "own"}); err != nil {
			return err
		}
		return unix.Connect(stream(0), &unix.SockaddrUnix{Name: args[0]})
	},
	"errnos": errnos,
	"full":   full,
	"signal": interrupted,
	"tcp":    tcp,
	"netlink": func([]string) error {
		fd := must(unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE))
		return errors.Join(wants(unix.Connect(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}), nil),
			wants(unix.Connect(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Pid: 77}), unix.EPERM), wants(unix.Connect(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: 1}), unix.EPERM))
	},
	"datagrams": func(args []string) error { // the host's, of a third user, by each call that says where to; then its own, many at once
		theirs := &unix.SockaddrUnix{Name: args[0]}
		list := []error{wants(unix.Connect(datagram(), theirs), unix.ECONNREFUSED), wants(unix.Connect(datagram(), &unix.SockaddrUnix{Name: "missing"}), unix.ENOENT)}
		closed := datagram()
		list = append(list, unix.Bind(closed, &unix.SockaddrUnix{Name: "closed"}), unix.Close(closed))
		for i := range 100 {
			own, to := datagram(), &unix.SockaddrUnix{Name: fmt.Sprint("own", i)}
			if err := unix.Bind(own, to); err != nil {
				return err
			}
			from := datagram()
			list = append(list, unix.Connect(from, to), unix.Send(from, []byte("word"), 0))
			n, _, err := unix.Recvfrom(own, make([]byte, 8), 0)
			list = append(list, err, unix.Close(own), unix.Close(from))
			if n != 4 {
				return fmt.Errorf("%d bytes", n)
			}
		}
		time.Sleep(3 * retryInterval) // the judge holds no socket on
		return errors.Join(append(list, wants(unix.Connect(datagram(), &unix.SockaddrUnix{Name: "closed"}), unix.ECONNREFUSED))...)
	},
	"declared": func(args []string) error { return unix.Connect(datagram(), &unix.SockaddrUnix{Name: args[0]}) },
	"abstract": func([]string) error {
		if _, err := serve("@ethos-notify"); err != nil {
			return err
		}
		return unix.Connect(stream(0), &unix.SockaddrUnix{Name: "@ethos-notify"})
	},
	"foreign": func([]string) error { // descriptor 3 is a socket of the host's network namespace, 4 one that it listens on
		if err := wants(unix.Connect(3, &unix.SockaddrUnix{Name: "@ethos-notify-host"}), unix.EACCES); err != nil {
			return err
		}
		if err := unix.Listen(4, 8); err != nil {
			return err
		}
		return wants(unix.Connect(stream(0), &unix.SockaddrUnix{Name: "foreign"}), unix.ECONNREFUSED)
	},
	"threads": func([]string) error { // many at once, while some never end
		if _, err := serve("own"); err != nil {
			return err
		}
		stuck := stream(0)
		if err := errors.Join(unix.Bind(stuck, &unix.SockaddrUnix{Name: "stuck"}), unix.Listen(stuck, 0)); err != nil {
			return err
		}
		for range 8 {
			go unix.Connect(stream(0), &unix.SockaddrUnix{Name: "stuck"})
		}
		time.Sleep(50 * time.Millisecond)
		var failed atomic.Int64
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				for range 200 {
					fd := stream(0)
					if unix.Connect(fd, &unix.SockaddrUnix{Name: "own"}) != nil {
						failed.Add(1)
					}
					unix.Close(fd)
				}
			})
		}
		if all.Wait(); failed.Load() > 0 {
			return fmt.Errorf("%d failed", failed.Load())
		}
		return nil
	},
	"link": func(args []string) error { return unix.Connect(stream(0), &unix.SockaddrUnix{Name: args[0]}) },
}

// errnos are those of the kernel.
func errnos([]string) error {
	if _, err := serve("own"); err != nil {
		return err
	}
	os.WriteFile("file", nil, 0o644)
	os.Symlink("loop", "loop")
	stale := stream(0)
	unix.Bind(stale, &unix.SockaddrUnix{Name: "stale"}) // nobody listens
	unix.Mkfifo("fifo", 0o644)
	var list []error
	for name, want := range map[string]error{"own": nil, "missing": unix.ENOENT, "file/x": unix.ENOTDIR, "file": unix.ECONNREFUSED, "fifo": unix.ECONNREFUSED, "loop": unix.ELOOP, "stale": unix.ECONNREFUSED} {
		if err := wants(unix.Connect(stream(0), &unix.SockaddrUnix{Name: name}), want); err != nil {
			list = append(list, fmt.Errorf("%s: %w", name, err))
		}
	}
	connected := stream(0)
	again := errors.Join(wants(unix.Connect(connected, &unix.SockaddrUnix{Name: "own"}), nil), wants(unix.Connect(connected, &unix.SockaddrUnix{Name: "own"}), unix.EISCONN))
	raw := func(fd int, address unsafe.Pointer, length uintptr) error {
		if _, _, e := unix.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(address), length); e != 0 {
			return e
		}
		return nil
	}
	var long [110]byte
	long[0] = unix.AF_UNIX
	for i := 2; i < len(long); i++ {
		long[i] = 'n'
	}
	socket := stream(0)
	return errors.Join(errors.Join(list...), again,
		wants(raw(socket, nil, 16), unix.EFAULT), wants(raw(socket, unsafe.Pointer(&long), 129), unix.EINVAL), wants(raw(socket, unsafe.Pointer(&long), 2), unix.EINVAL),
		wants(raw(socket, unsafe.Pointer(&long), 110), unix.ENOENT), wants(raw(0, unsafe.Pointer(&long), 16), unix.ENOTSOCK), wants(raw(999, unsafe.Pointer(&long), 16), unix.EBADF))
}

// full connects to a server whose queue is full: at once for a socket that does not block, after SO_SNDTIMEO for one that does, and when there is room for one that waits.
func full([]string) error {
	l := stream(0)
	if err := errors.Join(unix.Bind(l, &unix.SockaddrUnix{Name: "l"}), unix.Listen(l, 0)); err != nil {
		return err
	}
	to := &unix.SockaddrUnix{Name: "l"}
	if err := unix.Connect(stream(0), to); err != nil { // the one that the queue takes
		return err
	}
	timed := stream(0)
	unix.SetsockoptTimeval(timed, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{Usec: 50000})
	if err := errors.Join(wants(unix.Connect(stream(unix.SOCK_NONBLOCK), to), unix.EAGAIN), wants(unix.Connect(timed, to), unix.EAGAIN)); err != nil {
		return err
	}
	if flags, err := unix.FcntlInt(uintptr(timed), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK != 0 {
		return fmt.Errorf("the socket was left with flags %#x, %v", flags, err)
	}
	waiting := make(chan error)
	go func() { waiting <- unix.Connect(stream(0), to) }()
	time.Sleep(20 * time.Millisecond)
	if _, _, err := unix.Accept(l); err != nil {
		return err
	}
	return <-waiting
}

// interrupted connects to a full queue under signals: without SA_RESTART it ends with EINTR. Go's handlers restart, so a call that was restarted often must still succeed.
func interrupted([]string) error {
	l := stream(0)
	to := &unix.SockaddrUnix{Name: "l"}
	if err := errors.Join(unix.Bind(l, to), unix.Listen(l, 0), unix.Connect(stream(0), to)); err != nil {
		return err
	}
	signal.Notify(make(chan os.Signal, 1), unix.SIGUSR1)
	tid := make(chan int)
	waiting := make(chan error)
	go func() {
		runtime.LockOSThread()
		tid <- unix.Gettid()
		fd := stream(0)
		err := unix.Connect(fd, to)
		if flags, _ := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err == nil && flags&unix.O_NONBLOCK != 0 {
			err = errors.New("the socket was left without blocking")
		}
		waiting <- err
	}()
	thread := <-tid
	for range 50 {
		unix.Tgkill(os.Getpid(), thread, unix.SIGUSR1)
		time.Sleep(2 * time.Millisecond)
	}
	if _, _, err := unix.Accept(l); err != nil {
		return err
	}
	if err := <-waiting; err != nil {
		return err
	}
	served, err := serve("own") // and one that succeeds at once, under a storm
	if err != nil {
		return err
	}
	defer served.Close()
	go func() {
		runtime.LockOSThread()
		tid <- unix.Gettid()
		for range 300 {
			fd := stream(0)
			if err := unix.Connect(fd, &unix.SockaddrUnix{Name: "own"}); err != nil {
				waiting <- err
				return
			}
			unix.Close(fd)
		}
		waiting <- nil
	}()
	for thread = <-tid; ; {
		select {
		case err := <-waiting:
			return err
		default:
			unix.Tgkill(os.Getpid(), thread, unix.SIGUSR1)
		}
	}
}

// tcp connects in a network namespace whose loopback is down: what comes back is what holds.
func tcp(args []string) error {
	fd := must(unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0))
	want := map[string]error{"denied": unix.EACCES, "allowed": unix.ENETUNREACH}[args[0]]
	if _, err := serve("@own"); err != nil {
		return err
	}
	return errors.Join(wants(unix.Connect(fd, &unix.SockaddrInet4{Port: 9, Addr: [4]byte{127, 0, 0, 1}}), want), unix.Connect(stream(0), &unix.SockaddrUnix{Name: "@own"}))
}

// dir is a directory with a short name, as the path of a socket needs it.
func dir(t *testing.T) string {
	t.Helper()
	path := must(os.MkdirTemp("/tmp", "n"))
	t.Cleanup(func() { os.RemoveAll(path) })
	return path
}

func TestReach(t *testing.T) {
	host := dir(t)
	l := must(serve(host + "/s"))
	defer l.Close()
	in := func(cmd *exec.Cmd, o *Options) { cmd.Dir = dir(t) }
	if said := confined(t, "reach", in, host+"/s"); !strings.Contains(said, "connection refused") {
		t.Errorf("the host's server: %s", said)
	}
	declared := func(cmd *exec.Cmd, o *Options) { in(cmd, o); o.Declared = []string{host + "/s"} }
	if said := confined(t, "reach", declared, host+"/s"); said != "done\n" {
		t.Errorf("a declared one: %s", said)
	}
}

func TestCalls(t *testing.T) {
	for _, name := range []string{"errnos", "full", "signal", "netlink", "abstract", "threads"} {
		t.Run(name, func(t *testing.T) {
			if said := confined(t, name, func(cmd *exec.Cmd, _ *Options) { cmd.Dir = dir(t) }); said != "done\n" {
				t.Error(said)
			}
		})
	}
}

// TestTCP: what the command's Landlock rules refuse, the judge's thread refuses.
func TestTCP(t *testing.T) {
	probetest.NeedFunc(t, "landlock-abi-4", func() string {
		if kernel, err := landlock.Probe(); err != nil || kernel.ABI < 4 {
			return "it needs ABI 4"
		}
		return ""
	})
	for _, deny := range []bool{true, false} {
		want := map[bool]string{true: "denied", false: "allowed"}[deny]
		if said := confined(t, "tcp", func(_ *exec.Cmd, o *Options) { o.HoldTCP = deny }, want); said != "done\n" {
			t.Errorf("denied %v: %s", deny, said)
		}
	}
}

// TestForeignSockets: a socket of another network namespace reaches nothing there, and what it listens at is not taken for a server of the command's.
func TestForeignSockets(t *testing.T) {
	l := must(net.Listen("unix", "@ethos-notify-host"))
	defer l.Close()
	at := dir(t)
	unbound, bound := stream(unix.SOCK_CLOEXEC), stream(unix.SOCK_CLOEXEC)
	if err := unix.Bind(bound, &unix.SockaddrUnix{Name: at + "/foreign"}); err != nil {
		t.Fatal(err)
	}
	files := []*os.File{os.NewFile(uintptr(unbound), "unbound"), os.NewFile(uintptr(bound), "bound")}
	defer files[0].Close()
	defer files[1].Close()
	if said := confined(t, "foreign", func(cmd *exec.Cmd, _ *Options) { cmd.Dir, cmd.ExtraFiles = at, files }); said != "done\n" {
		t.Error(said)
	}
}

// TestPrivileges: the judge's thread has no capability, so that it reaches no file that the command's user could not.
func TestPrivileges(t *testing.T) {
	probetest.Need(t, probetest.Root)
	closed := dir(t)
	l := must(serve(closed + "/s"))
	defer l.Close()
	if err := errors.Join(os.Chown(closed+"/s", 12345, 12345), os.Chmod(closed+"/s", 0o600)); err != nil {
		t.Fatal(err)
	}
	declared := func(_ *exec.Cmd, o *Options) { o.Declared = []string{closed + "/s"} }
	if said := confined(t, "link", declared, closed+"/s"); !strings.Contains(said, "permission denied") {
		t.Errorf("a socket of somebody else: %s", said)
	}
	if err := os.Chmod(closed+"/s", 0o666); err != nil {
		t.Fatal(err)
	}
	if said := confined(t, "link", declared, closed+"/s"); said != "done\n" {
		t.Errorf("a socket for everybody: %s", said)
	}
}

// TestDatagrams: a judge that has more than the command connects datagram sockets to those of the command alone; one that has not, as ever.
func TestDatagrams(t *testing.T) {
	probetest.Need(t, probetest.Root)
	closed := filepath.Join(dir(t), "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	l := must(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: closed + "/s", Net: "unixgram"}))
	defer l.Close()
	if err := errors.Join(os.Chown(closed+"/s", 12345, 12345), os.Chmod(closed+"/s", 0o600), os.Chown(closed, 12345, 12345)); err != nil {
		t.Fatal(err)
	}
	if said := confined(t, "datagrams", func(cmd *exec.Cmd, o *Options) { cmd.Dir, o.Override = dir(t), true }, closed+"/s"); said != "done\n" {
		t.Error(said)
	}
	if said := confined(t, "declared", func(cmd *exec.Cmd, o *Options) {
		cmd.Dir, o.Override, o.Declared = dir(t), true, []string{closed + "/s"}
	}, closed+"/s"); said != "done\n" {
		t.Error(said)
	}
}

// TestRoot: an absolute link leads below the command's root, not the judge's.
func TestRoot(t *testing.T) {
	probetest.Need(t, probetest.Root)
	root := dir(t)
	l := must(serve(root + "/s"))
	defer l.Close()
	if err := os.Symlink("/s", root+"/link"); err != nil {
		t.Fatal(err)
	}
	exe := must(os.ReadFile("/proc/self/exe"))
	if err := errors.Join(os.WriteFile(root+"/exe", exe, 0o755), os.Mkdir(root+"/proc", 0o755)); err != nil {
		t.Fatal(err)
	}
	libraries, _ := exec.Command("ldd", must(os.Executable())).CombinedOutput() // of a program that has none it is an error
	for word := range strings.FieldsSeq(string(libraries)) {
		if text, err := os.ReadFile(word); err == nil && strings.HasPrefix(word, "/") {
			if err := errors.Join(os.MkdirAll(root+filepath.Dir(word), 0o755), os.WriteFile(root+word, text, 0o755)); err != nil {
				t.Fatal(err)
			}
		}
	}
	change := func(cmd *exec.Cmd, o *Options) {
		cmd.Path, cmd.SysProcAttr.Chroot, cmd.Dir = "/exe", root, "/"
		o.Declared = []string{root + "/s"}
	}
	if said := confined(t, "link", change, "/link"); !strings.Contains(said, "done\n") { // the race detector misses /proc, and says so
		t.Error(said)
	}
}

// TestOwn splits what the kernel would do with a magic link of the caller.
func TestOwn(t *testing.T) {
	for path, want := range map[string][]string{
		"/proc/self/cwd/a/b": {"a/b", "cwd"}, "/proc/thread-self/root//x": {"x", "root"}, "/proc/self/fd/7": {"", "fd/7"}, "/dev/fd/12/s": {"s", "fd/12"}, "/proc/self/cwd": {"", "cwd"},
		"/proc/self/cwdx/a": {"/proc/self/cwdx/a", ""}, "/dev/cwd/a": {"/dev/cwd/a", ""}, "/proc/1/cwd/a": {"/proc/1/cwd/a", ""}, "a/b": {"a/b", ""}, "/proc/self/environ": {"/proc/self/environ", ""},
	} {
		if rest, magic := own(path); !slices.Equal(want, []string{rest, magic}) {
			t.Errorf("%s: %q %q, not %q", path, rest, magic, want)
		}
	}
}

// TestKnown: files that have no name any more make room, and what is too much is not known.
func TestKnown(t *testing.T) {
	at := dir(t)
	open := func(name string) int {
		if err := os.WriteFile(at+"/"+name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		return must(unix.Open(at+"/"+name, unix.O_PATH|unix.O_CLOEXEC, 0))
	}
	var k known
	if err := k.declare(nil); err != nil {
		t.Fatal(err)
	}
	defer k.close()
	for i := range maxListening {
		k.add(open(strconv.Itoa(i)))
	}
	id := func(fd int) identity { return must(identify(fd)) }
	late := open("late")
	lateID := id(late)
	if k.add(late); k.find(lateID) >= 0 || len(k.inside) != maxListening {
		t.Errorf("%d are known", len(k.inside))
	}
	if err := os.Remove(at + "/7"); err != nil {
		t.Fatal(err)
	}
	if k.add(open("late")); k.find(lateID) < 0 || len(k.inside) != maxListening {
		t.Errorf("the place of one that is gone is not used: %d", len(k.inside))
	}
}
