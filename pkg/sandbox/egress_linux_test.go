package sandbox

import (
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
)

// greeter is a server of the host's loopback that says a word, and counts who
// came.
func greeter(t *testing.T, word string) (port int, came *atomic.Int32) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	came = new(atomic.Int32)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			came.Add(1)
			_, _ = io.WriteString(conn, word+"\n")
			conn.Close()
		}
	}()
	return listener.Addr().(*net.TCPAddr).Port, came
}

// TestEgress: a port of the host's loopback that is listed is reached, by the
// transparent way and by the explicit proxy, and nothing else is. The command
// has ports of its own, and cannot take those of the name server.
func TestEgress(t *testing.T) {
	probetest.Need(t, "command:bash")
	twice(t, func(t *testing.T) {
		listed, _ := greeter(t, "listed")
		other, came := greeter(t, "other")
		spec := script(t, "")
		spec.Argv = []string{"bash", "-c", fmt.Sprintf(`
			at() { { exec 3<>/dev/tcp/$1/$2; } 2>/dev/null && cat <&3 || echo "$1 is not there"; }
			at localhost %[1]d
			at 127.0.0.1 %[1]d
			at localhost %[2]d
			at 198.18.0.9 443
			at 20.0.0.1 443
			at evil.test 443
			exec 3<>/dev/udp/127.0.0.1/53 # an A query, and the second byte of its answer's flags: RA, NXDOMAIN
			printf '\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x04evil\x04test\x00\x00\x01\x00\x01' >&3
			dd bs=512 count=1 <&3 2>/dev/null | od -An -tx1 -j3 -N1
			exec 3<>/dev/tcp/127.0.0.1/1021
			printf 'CONNECT localhost:%[1]d HTTP/1.1\r\nHost: localhost:%[1]d\r\n\r\n' >&3
			cat <&3 | tail -n 1
			exec 3<>/dev/tcp/127.0.0.1/1021
			printf 'CONNECT localhost:%[2]d HTTP/1.1\r\nHost: localhost:%[2]d\r\n\r\n' >&3
			cat <&3 | head -n 1
			exec 3<>/dev/tcp/127.0.0.1/1021
			printf 'CONNECT 127.0.0.1:%[2]d HTTP/1.1\r\nHost: 127.0.0.1:%[2]d\r\n\r\n' >&3
			cat <&3 | head -n 1
			head -n 1 /etc/resolv.conf 2>/dev/null || echo nameserver 127.0.0.1 # what a C library asks without the file
			{ echo nameserver 20.0.0.1 >>/etc/resolv.conf; } 2>/dev/null || echo read-only
			env | grep -i _proxy; true`, listed, other)}
		spec.Environ = append(spec.Environ, "HTTPS_PROXY=", "no_proxy=x", "ALL_PROXY=socks5://127.0.0.1:9")
		spec.Env.Pass = append(spec.Env.Pass, "ALL_PROXY", "no_proxy") // also named, they are the caller's and no use inside
		spec.Network = record.Network{Mode: "proxy", AllowDomains: []string{fmt.Sprintf("localhost:%d", listed)}}
		r := execute(t, spec)
		want := "listed\nlisted\nlocalhost is not there\n198.18.0.9 is not there\n20.0.0.1 is not there\nevil.test is not there\n 83\nlisted\nHTTP/1.1 403 Forbidden\r\nHTTP/1.1 403 Forbidden\r\nnameserver 127.0.0.1\nread-only\n"
		if r.err != nil || r.Stdout.Text != want {
			t.Fatalf("%v\n%s\n%s\nwant\n%s", r.err, r.Stdout.Text, r.Stderr.Text, want)
		}
		if came.Load() > 0 {
			t.Error("the port that is not listed was reached")
		}
		checkConnections(t, &r.Evidence, listed, other)
	})
}

// checkConnections: each connection that a door took is one event, and each
// refused destination one denial with what would allow it.
func checkConnections(t *testing.T, e *record.Sandbox, listed, other int) {
	t.Helper()
	line := slices.IndexFunc(e.Controls, func(c record.Control) bool { return c.Name == "egress" })
	if line < 0 || e.Controls[line].State != "enforced" || !e.NetworkIsolated {
		t.Errorf("egress: %+v", e.Controls)
	}
	seen := map[string]int{}
	for _, c := range e.Connections {
		seen[fmt.Sprintf("%s %s %v", c.Door, c.Target(), c.Allowed)]++
	}
	for event, times := range map[string]int{
		fmt.Sprintf("transparent localhost:%d true", listed): 2, fmt.Sprintf("connect localhost:%d true", listed): 1,
		fmt.Sprintf("connect localhost:%d false", other): 1, "dns evil.test false": 1,
	} {
		if seen[event] != times {
			t.Errorf("%s: %d times, want %d in %v", event, seen[event], times, seen)
		}
	}
	var remedies []string
	for _, d := range e.Denials {
		remedies = append(remedies, d.Layer+" "+d.Remedy)
	}
	for _, want := range []string{"network --allow-domain evil.test", fmt.Sprintf("network --allow-domain localhost:%d", other)} {
		if !slices.Contains(remedies, want) {
			t.Errorf("no %q in %q", want, remedies)
		}
	}
}

// TestEgressPorts: a port of the web is taken from the command, one of a single
// name is not, and the name still has it.
func TestEgressPorts(t *testing.T) {
	probetest.Need(t, "command:python3")
	twice(t, func(t *testing.T) {
		spec := script(t, "")
		spec.Argv = []string{"python3", "-c", `
import socket
def bind(at, port):
    s = socket.socket()
    try:
        s.bind((at, port)); s.listen(); print(at, port, "bound")
    except OSError as e:
        print(at, port, e.strerror)
    return s
kept = [bind("127.0.0.1", 5432), bind("0.0.0.0", 8443), bind("127.0.0.1", 443), bind("127.0.0.1", 53)]
c = socket.create_connection(("127.0.0.1", 5432)); kept[0].accept(); print("own server")
try:
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    # RTM_NEWROUTE local 20.0.0.0/8 dev lo, with NLM_F_ACK
    s.send(bytes.fromhex("2c00000018000506010000000000000002080000ff03fe020000000008000400010000000800010014000000"))
    print("route:", int.from_bytes(s.recv(4096)[16:20], "little", signed=True))
except OSError as e:
    print("route:", e.strerror)
try:
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0); print("packet socket")
except OSError as e:
    print("packet:", e.strerror)
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try:
    u.sendto(b"x", ("20.0.0.1", 53)); print("datagram sent")
except OSError as e:
    print(e.strerror)
`}
		spec.Network = record.Network{Mode: "proxy", AllowDomains: []string{"db.example:5432", "*.corp.example:8443", "web.example"}}
		r := execute(t, spec)
		out := r.Stdout.Text
		for _, want := range []string{"127.0.0.1 5432 bound", "own server", "0.0.0.0 8443 Address already in use", "127.0.0.1 443 ", "127.0.0.1 53 ", "Network is unreachable", "route: -1\n", "packet: Address family not supported"} {
			if r.err != nil || !strings.Contains(out, want) {
				t.Errorf("no %q: %v\n%s%s", want, r.err, out, r.Stderr.Text)
			}
		}
		if strings.Contains(out, "443 bound") || strings.Contains(out, "53 bound") || strings.Contains(out, "datagram sent") {
			t.Error(out)
		}
		if notes := fmt.Sprint(mustBuild(t, spec).Notes); !strings.Contains(notes, "port 8443") || strings.Contains(notes, "port 5432") {
			t.Errorf("notes: %s", notes)
		}
	})
}

// TestPublish: a port of the host leads to a server of the command, for more
// connections than there are sockets inside, whichever side ends first; the
// port is free again when the run has ended. Nothing else of the command is
// reached by it.
func TestPublish(t *testing.T) {
	probetest.Need(t, "command:python3")
	twice(t, func(t *testing.T) {
		for _, at := range []string{"127.0.0.1", "::1"} {
			free, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			host := free.Addr().String()
			free.Close()
			spec := script(t, "")
			spec.Argv = []string{"python3", "-c", `
import socket, sys
s = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET)
s.bind((sys.argv[1], 8000)); s.listen(300)
while True:
    c, _ = s.accept()
    text = c.recv(100)
    if text == b"end": break
    if text == b"reset": c.close(); continue
    c.sendall(b"echo " + text + b" " + c.recv(100)); c.close()
`, at}
			spec.Network = record.Network{Mode: "loopback"}
			_, port, _ := net.SplitHostPort(host)
			spec.Publish = []string{port + ":8000"}
			done := make(chan result, 1)
			go func() { done <- execute(t, spec) }()
			say := func(text string) (string, error) {
				conn, err := net.Dial("tcp", host)
				if err != nil {
					return "", err
				}
				defer conn.Close()
				if _, err := io.WriteString(conn, text); err != nil {
					return "", err
				}
				if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
					return "", err
				}
				answer, err := io.ReadAll(conn)
				return string(answer), err
			}
			for { // until the server listens
				if answer, err := say("hello"); err == nil && answer == "echo hello " {
					break
				}
				select {
				case r := <-done:
					t.Fatalf("%v %s%s", r.err, r.Stdout.Text, r.Stderr.Text)
				default:
				}
			}
			for i := range 300 {
				if _, err := say("reset"); err != nil && !strings.Contains(err.Error(), "reset") {
					t.Error(err)
				}
				if answer, err := say(fmt.Sprint(i)); err != nil || answer != fmt.Sprintf("echo %d ", i) {
					t.Fatalf("%d: %q, %v", i, answer, err)
				}
			}
			_, _ = say("end")
			r := <-done
			if r.err != nil || r.ExitCode != 0 {
				t.Fatalf("%v %s", r.err, r.Stderr.Text)
			}
			again, err := net.Listen("tcp", host)
			if err != nil {
				t.Fatal(err)
			}
			again.Close()
		}
	})
}

// TestPublishRefused: what is no port of the host, what other machines would
// reach, a port that is taken, and one inside at which the supervisor would
// answer, the proxy for one, end the run before the command starts.
func TestPublishRefused(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	taken, _ := greeter(t, "taken")
	for _, c := range []struct{ text, mode, want string }{
		{"8080", "none", "has no ports to publish"}, {"0.0.0.0:8080:80", "loopback", "lets other machines in"}, {"x:80", "loopback", "is not a host port and a port inside"},
		{"8080:0", "loopback", "is not a host port and a port inside"}, {"8080:65536", "loopback", "is not a host port and a port inside"}, {"localhost:8080:80", "loopback", "is not a host port and a port inside"},
		{"8080:80", "host", "has no ports to publish"}, {fmt.Sprintf("%d:8000", taken), "loopback", "address already in use"},
		{"8080:80", "loopback", "the command cannot listen on port 80"}, {"8080:1021", "proxy", "listen on port 1021"},
		{"8080:5432", "proxy", "listen on port 5432"}, {"8080:8443", "proxy", "listen on port 8443"},
	} {
		spec := script(t, "echo ran")
		spec.Network.Mode, spec.Publish = c.mode, []string{c.text}
		if c.mode == "proxy" {
			spec.Network.AllowDomains = []string{"localhost:5432", "*.example.com:8443", "db.example:9000"}
		}
		plan, err := Build(spec, HostFiles{}, os.Geteuid())
		if err == nil {
			_, _, err = RunCaptured(t.Context(), plan, nil)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
	spec := script(t, "echo ran") // a name's port is taken at the name's address alone
	spec.Network = record.Network{Mode: "proxy", AllowDomains: []string{"db.example:9000"}}
	spec.Publish = []string{"8080:9000"}
	if _, err := Build(spec, HostFiles{}, os.Geteuid()); err != nil {
		t.Error(err)
	}
}
