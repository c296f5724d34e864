package escapes

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"ethos/pkg/capability"
	"ethos/pkg/sandbox"
	"ethos/pkg/shorttest"
)

func init() {
	for name, attack := range map[string]func([]string) error{"race-address": raceAddress, "race-descriptor": raceDescriptor, "race-name": raceName, "passed": passed, "family": family, "pair": pair, "await": await} {
		programs[name] = attack
	}
}

// unixAddress is struct sockaddr_un.
func unixAddress(path string) (b [110]byte, length uintptr) {
	*(*uint16)(unsafe.Pointer(&b[0])) = unix.AF_UNIX
	copy(b[2:], path)
	return b, uintptr(2 + len(path) + 1)
}

func rawConnect(fd int, address *[110]byte, length uintptr) error {
	if _, _, e := unix.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(address)), length); e != 0 {
		return e
	}
	return nil
}

// hello reports whether whoever is at the other end answers with a word of the host.
func hello(fd int) bool {
	unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 2})
	b := make([]byte, 16)
	n, _ := unix.Read(fd, b)
	return strings.HasPrefix(string(b[:max(n, 0)]), hostWord)
}

const hostWord, ownWord = "host", "mine"

// own is a server of the command's own, which must be reached now and then, or the race shows nothing.
func own(path string) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if err == nil {
		go greet(l, ownWord)
	}
	return l, err
}

func greet(l net.Listener, word string) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		io.WriteString(c, word)
		c.Close()
	}
}

// racing tries to connect for seconds, and for longer where that is no race yet; swap runs beside it. It fails with ECONNREFUSED when no try came to the host's server and some came to the own one.
func racing(swap func(turn int), connect func(fd int) error) error {
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for turn := 0; !stop.Load(); turn++ {
			swap(turn)
		}
	}()
	defer func() { stop.Store(true); <-done }()
	mine, refused, other := 0, 0, 0
	for began := time.Now(); ; {
		if took := time.Since(began); took > time.Minute || took > 3*time.Second && mine > 0 && refused > 0 {
			break
		}
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		err = connect(fd)
		if err == nil && hello(fd) {
			unix.Close(fd)
			return nil
		}
		switch err {
		case nil:
			mine++
		case unix.ECONNREFUSED, unix.EACCES: // the judge's, and Landlock's
			refused++
		default:
			other++
		}
		unix.Close(fd)
	}
	fmt.Printf("own %d, refused %d, else %d\n", mine, refused, other)
	if mine == 0 || refused == 0 {
		return fmt.Errorf("the race was none")
	}
	return unix.ECONNREFUSED
}

// raceAddress swaps the path in memory while it is judged.
func raceAddress(args []string) error {
	l, err := own(args[0])
	if err != nil {
		return err
	}
	defer l.Close()
	good, n := unixAddress(args[0])
	bad, _ := unixAddress(args[1])
	address := new([110]byte)
	*address = good
	return racing(func(turn int) {
		if turn%2 == 0 {
			*address = bad
		} else {
			*address = good
		}
	}, func(fd int) error { return rawConnect(fd, address, max(n, uintptr(2+len(args[1])+1))) })
}

// raceName swaps two names in the file system, by renameat2(2), and a directory on the way.
func raceName(args []string) error {
	l, err := own(args[0])
	if err != nil {
		return err
	}
	defer l.Close()
	address, n := unixAddress(args[0])
	return racing(func(int) { unix.Renameat2(unix.AT_FDCWD, args[0], unix.AT_FDCWD, args[1], unix.RENAME_EXCHANGE) },
		func(fd int) error { return rawConnect(fd, &address, n) })
}

// raceDescriptor swaps the socket under its number: a datagram socket, which is not judged, and a stream one.
func raceDescriptor(args []string) error {
	l, err := own(args[0])
	if err != nil {
		return err
	}
	defer l.Close()
	datagram, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	const number = 500
	var stream atomic.Int64
	good, n := unixAddress(args[0])
	bad, m := unixAddress(args[1])
	tries := 0
	return racing(func(turn int) {
		if fd := int(stream.Load()); fd > 0 && turn%2 == 0 {
			unix.Dup3(fd, number, 0)
		} else {
			unix.Dup3(datagram, number, 0)
		}
	}, func(fd int) error {
		stream.Store(int64(fd))
		unix.Dup3(fd, number, 0)
		if tries++; tries%8 == 0 {
			return rawConnect(fd, &good, n)
		}
		if err := rawConnect(number, &bad, m); err != nil {
			return err
		}
		if hello(fd) || hello(number) { // whichever of the two was connected
			return rawConnect(fd, &good, n)
		}
		return unix.ECONNREFUSED
	})
}

// passed sends an unconnected socket through another one, as between two processes, and connects what arrives.
func passed(args []string) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	if err := unix.Sendmsg(pair[0], []byte{0}, unix.UnixRights(fd), nil, 0); err != nil {
		return err
	}
	unix.Close(fd)
	oob := make([]byte, 64)
	_, n, _, _, err := unix.Recvmsg(pair[1], make([]byte, 1), oob, 0)
	if err != nil {
		return err
	}
	list, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil {
		return err
	}
	fds, err := unix.ParseUnixRights(&list[0])
	if err != nil {
		return err
	}
	address, length := unixAddress(args[0])
	return rawConnect(fds[0], &address, length)
}

// family connects a socket of a type to a path; with a third argument it first listens there itself.
func family(args []string) error {
	kind := map[string]int{"stream": unix.SOCK_STREAM, "seqpacket": unix.SOCK_SEQPACKET, "dgram": unix.SOCK_DGRAM}[args[0]]
	if len(args) > 2 {
		server, err := unix.Socket(unix.AF_UNIX, kind, 0)
		if err != nil {
			return err
		}
		if err := unix.Bind(server, &unix.SockaddrUnix{Name: args[1]}); err != nil {
			return err
		}
		if err := unix.Listen(server, 8); err != nil && kind != unix.SOCK_DGRAM {
			return err
		}
	}
	fd, err := unix.Socket(unix.AF_UNIX, kind, 0)
	if err != nil {
		return err
	}
	address, length := unixAddress(args[1])
	if len(args[1]) == 108 {
		length--
	}
	return rawConnect(fd, &address, length)
}

// pair makes sockets of a type that are connected to each other, and sends a descriptor: to a path, or without one to the other of the two.
func pair(args []string) error {
	kind := map[string]int{"stream": unix.SOCK_STREAM, "seqpacket": unix.SOCK_SEQPACKET, "dgram": unix.SOCK_DGRAM, "raw": unix.SOCK_RAW}[args[0]]
	fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if len(args) == 1 {
		return unix.Sendmsg(fds[0], []byte{0}, unix.UnixRights(0), nil, 0)
	}
	to := &unix.SockaddrUnix{Name: args[1]}
	if err := unix.Sendmsg(fds[0], []byte{0}, unix.UnixRights(0), to, 0); err != nil {
		return err
	}
	return unix.Connect(fds[1], to)
}

// await waits until a file is there.
func await(args []string) error {
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, err := os.Lstat(args[0]); err == nil {
			return nil
		}
	}
	return unix.ETIMEDOUT
}

// later are attacks on a socket that a server of the host makes when the command runs: at the name $S, in $D. Each has its allowed twin, with a server inside.
var later = []struct{ name, attack, twin string }{
	{"in the work space", `x dial unix "$S"`, `x ping unix ./p`},
	{"relative", `cd "$D" && x dial unix ./s`, `cd "$D" && x ping unix ./p`},
	{"upwards", `mkdir "$D/up" && cd "$D/up" && x dial unix ../s`, `mkdir -p a/b && cd a/b && x ping unix ../p`},
	{"by a link", `ln -s "$S" l && x dial unix ./l`, `mkdir d1 && ln -s d1 d2 && x ping unix d2/p`},
	{"by a link to a directory", `ln -s "$D" l && x dial unix l/s`, `mkdir d1 && ln -s "$PWD/d1" d2 && x ping unix d2/p`},
	{"by a hard link", `ln "$S" l && x dial unix ./l`, `x serve own & x await own; ln own other; x dial unix ./other || { sleep 1; x dial unix ./other; }`},
	{"renamed", `mv "$S" m && x dial unix ./m`, `x ping unix ./p`},
	{"in a renamed directory", `mv "$D" n && x dial unix n/s`, `mkdir q && mv q r && x ping unix r/p`},
	{"by its working directory in proc", `cd "$D" && x dial unix /proc/self/cwd/s`, `cd "$D" && x ping unix /proc/self/cwd/p`},
	{"by its root in proc", `x dial unix "/proc/self/root$S"`, `x ping unix /proc/self/root/tmp/p`},
	{"by a descriptor of the directory", `exec 8<"$D"; x dial unix /proc/self/fd/8/s`, `exec 8<"$D"; x ping unix /dev/fd/8/p`},
	{"seqpacket", `x family seqpacket "$S.seq"`, `x family seqpacket ./p listen`},
	{"a socket that was passed", `x passed "$S"`, `x passed own`},
	{"an inherited one", `x dial unix "$S"`, `x family stream ./p listen`},
	{"while the address changes", `x race-address ./p12345 "$S"`, `x ping unix ./q`},
	{"while names change", `mkdir z && ln "$S" z/other && x race-name z/p z/other`, `x ping unix ./q`},
	{"while the descriptor changes", `x race-descriptor ./p "$S"`, `x ping unix ./q`},
}

// TestSocketsThatComeLater: a server of the host that begins to listen while the command runs is not reached, wherever its socket is; one that is declared is, and so are those
// inside.
func TestSocketsThatComeLater(t *testing.T) {
	twice(t, func(t *testing.T) {
		for _, place := range shorttest.Sample([]string{"", "a/b/c/d/e/f/g", "node_modules/x"}, 3) {
			for _, c := range later {
				if place != "" && !strings.HasPrefix(c.name, "in the work space") {
					continue
				}
				t.Run(strings.TrimSpace(c.name+" "+strings.ReplaceAll(place, "/", ".")), func(t *testing.T) {
					text := fmt.Sprintf("(\n%s\n)\necho attack=$?\ncd \"$W\"\n(\n%s\n)\necho twin=$?\n", c.attack, c.twin)
					if c.name == "a socket that was passed" {
						text = fmt.Sprintf("x serve own & x await own; sleep 0.3\n(\n%s\n)\necho attack=$?\n(\n%s\n)\necho twin=$?\n", c.attack, c.twin)
					}
					said, evidence := withLater(t, place, text)
					refusal := shows(said, "ECONNREFUSED") || evidence.Enforced == "Landlock" && shows(said, "EACCES") // from ABI 9 on
					if !strings.Contains(said, "attack=1\n") || !refusal {
						t.Errorf("it was not refused\n%s", said)
					}
					if !strings.Contains(said, "twin=0\n") {
						t.Errorf("the twin failed\n%s", said)
					}
					if evidence.State != "enforced" {
						t.Errorf("%+v", evidence)
					}
				})
			}
		}
	})
}

// withLater runs a script in a work space in which, once it runs, the host has servers: stream at $S, seqpacket at $S.seq.
func withLater(t *testing.T, below, text string) (said string, evidence evidenceOf) {
	t.Helper()
	base, err := os.MkdirTemp("/tmp", "e") // a socket's path has 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, base) })
	spec := bare(t, capability.DefaultProfile)
	spec.Workspace = base + "/w"
	spec.Dir = spec.Workspace
	dir := filepath.Join(spec.Workspace, below, "d")
	path := filepath.Join(dir, "s")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	spec.Argv = []string{"sh", "-c", fmt.Sprintf("x() { '%s' %s \"$@\"; }\nW='%s'\nD='%s'\nS='%s'\n: > ready\nx await there || exit 9\n%s", self(), attackWord, spec.Workspace, dir, path, text)}
	spec.ReadPaths, spec.Timeout = []string{self()}, patience
	plan, err := sandbox.Build(spec, sandbox.HostFiles{}, os.Geteuid())
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		await([]string{spec.Workspace + "/ready"})
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { l.Close() })
		go greet(l, hostWord)
		if p, err := net.Listen("unixpacket", path+".seq"); err == nil {
			t.Cleanup(func() { p.Close() })
		}
		os.WriteFile(spec.Workspace+"/there", nil, 0o644)
	}()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, got, err := sandbox.RunCaptured(ctx, plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := control(out.Evidence, "unix_sockets")
	return got.Stdout.Text + got.Stderr.Text, evidenceOf{c.State, c.Enforced, c.Reason}
}

type evidenceOf struct{ State, Enforced, Reason string }
