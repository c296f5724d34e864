package egress

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
)

// insideVariable makes the test binary the first process of a namespace.
const insideVariable = "EGRESS_TEST_INSIDE"

func TestMain(m *testing.M) {
	if resolv := os.Getenv(insideVariable); resolv != "" {
		fmt.Fprintln(os.Stderr, "inside:", inside(resolv))
		panic("the command did not start")
	}
	m.Run()
}

// doorPorts have a listener inside.
var doorPorts = []int{80, 443, 9418}

// inside sets the doors of a new network namespace up, sends their sockets
// out, and becomes the command. What it does is what a sandbox has to do.
func inside(resolv string) error {
	for _, args := range [][]string{
		{"link", "set", "lo", "up"},
		{"route", "add", "local", "198.18.0.0/15", "dev", "lo"},
		{"-6", "route", "add", "local", "100::/64", "dev", "lo"},
	} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %v: %w: %s", args, err, out)
		}
	}
	if err := unix.Mount(resolv, "/etc/resolv.conf", "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("resolv.conf: %w", err)
	}
	var files []int
	keep := func(c syscall.Conn) error {
		raw, err := c.SyscallConn()
		if err != nil {
			return err
		}
		return raw.Control(func(fd uintptr) { files = append(files, int(fd)) })
	}
	packets, err := net.ListenPacket("udp", "127.0.0.1:53")
	if err != nil {
		return err
	}
	if err := keep(packets.(*net.UDPConn)); err != nil {
		return err
	}
	addresses := []string{"127.0.0.1:53", "127.0.0.1:3128"}
	for _, port := range doorPorts {
		addresses = append(addresses, fmt.Sprintf("[::]:%d", port))
	}
	for _, address := range addresses {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			return err
		}
		if err := keep(listener.(*net.TCPListener)); err != nil {
			return err
		}
	}
	if err := unix.Sendmsg(3, []byte{1}, unix.UnixRights(files...), nil, 0); err != nil {
		return err
	}
	if n, err := unix.Read(3, make([]byte, 1)); n != 1 {
		return fmt.Errorf("no word from outside: %w", err)
	}
	command := os.Args[1:]
	path, err := exec.LookPath(command[0])
	if err != nil {
		return err
	}
	if err := os.Unsetenv(insideVariable); err != nil {
		return err
	}
	return unix.Exec(path, command, os.Environ())
}

// cell runs commands in namespaces of their own, whose doors a gateway serves.
type cell struct {
	*world
	dir  string
	cert string // file of the authority of the servers
	env  []string
}

// run runs a command inside and returns what it wrote.
func (c *cell) run(env []string, command ...string) (output string, err error) {
	c.t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		c.t.Fatal(err)
	}
	ours, theirs := pair[0], os.NewFile(uintptr(pair[1]), "theirs")
	defer unix.Close(ours)
	ctx, cancel := context.WithTimeout(c.ctx, 2*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe", command...)
	cmd.Dir = c.dir
	cmd.Env = append(append(c.env, insideVariable+"="+filepath.Join(c.dir, "resolv.conf")), env...)
	cmd.ExtraFiles = []*os.File{theirs}
	var text strings.Builder
	cmd.Stdout, cmd.Stderr = &text, &text
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
		// As an ordinary user only these cross execve(2).
		AmbientCaps: []uintptr{unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN, unix.CAP_NET_BIND_SERVICE},
		Pdeathsig:   syscall.SIGKILL,
	}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	theirs.Close()
	stop := c.serveInside(ctx, ours)
	err = cmd.Wait()
	stop()
	return text.String(), err
}

// serveInside takes the sockets of a namespace and serves them.
func (c *cell) serveInside(ctx context.Context, from int) (stop func()) {
	buffer := make([]byte, unix.CmsgSpace(4*16))
	n, oobn, _, _, err := unix.Recvmsg(from, make([]byte, 1), buffer, unix.MSG_CMSG_CLOEXEC)
	if err != nil || n != 1 {
		return func() {}
	}
	messages, err := unix.ParseSocketControlMessage(buffer[:oobn])
	if err != nil || len(messages) != 1 {
		c.t.Fatal(err, messages)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, len(fds))
	for i, fd := range fds {
		file := os.NewFile(uintptr(fd), "door")
		if i == 0 {
			packets, err := net.FilePacketConn(file)
			if err != nil {
				c.t.Fatal(err)
			}
			go func() { done <- c.ServeDNS(ctx, packets) }()
			continue
		}
		listener, err := net.FileListener(file)
		if err != nil {
			c.t.Fatal(err)
		}
		serve := c.ServeTransparent
		switch i {
		case 1:
			serve = c.ServeDNSStream
		case 2:
			serve = c.ServeProxy
		}
		go func() { done <- serve(ctx, listener) }()
	}
	_, _ = unix.Write(from, []byte{1})
	return func() {
		cancel()
		for range fds {
			if err := <-done; err != nil {
				c.t.Error(err)
			}
		}
	}
}

// ports is a dialer that leads each port to a server of the loopback.
type ports map[string]uint16

func (p ports) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host != public || p[port] == 0 {
		return nil, fmt.Errorf("dialled %s", address)
	}
	return (&net.Dialer{}).DialContext(ctx, network, loop(p[port]))
}

// newCell has servers for HTTP and HTTPS behind every name below test.
func newCell(t *testing.T, handler http.Handler, changes ...func(c *Config, servers string)) *cell {
	t.Helper()
	probetest.Need(t, probetest.UserNS, "command:ip")
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
	plain := httptest.NewServer(handler)
	t.Cleanup(plain.Close)
	certificate, authority := authorityFor(t, "registry.test", "other.test", "evil.test")
	write("ca.pem", authority)
	tlsServer := httptest.NewUnstartedServer(handler)
	tlsServer.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	tlsServer.EnableHTTP2 = true
	tlsServer.StartTLS()
	t.Cleanup(tlsServer.Close)
	to := ports{"80": portOf(t, plain.Listener.Addr().String()), "443": portOf(t, tlsServer.Listener.Addr().String())}
	w := newWorld(t, rules(t, []string{"registry.test", "*.wild.test"}, nil), func(c *Config) {
		c.Dialer, c.Table = to, nil
		for _, change := range changes {
			change(c, authority)
		}
	})
	w.book.any = public
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	ca := filepath.Join(dir, "ca.pem")
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LANG=C.UTF-8", "CURL_CA_BUNDLE=" + ca, "SSL_CERT_FILE=" + ca, "REQUESTS_CA_BUNDLE=" + ca, "PIP_CERT=" + ca,
		"NODE_EXTRA_CA_CERTS=" + ca, "GIT_SSL_CAINFO=" + ca, "npm_config_cafile=" + ca, "npm_config_update_notifier=false", "PYENV_VERSION=" + os.Getenv("PYENV_VERSION")}
	return &cell{world: w, dir: dir, cert: ca, env: env}
}
