package escapes

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ethos/pkg/capability"
	"ethos/pkg/sandbox"
)

// host is what attacks try to reach: servers, a process and descriptors of this machine.
type host struct {
	variables string // of every script
}

func newHost(t *testing.T) *host {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := &host{}
	set := func(name, value string) { h.variables += name + "='" + value + "'\n" }
	h.variables = "x() { '" + exe + "' " + attackWord + " \"$@\"; }\n"
	set("BIN", exe)
	set("TCP", serve(t, "tcp4", "127.0.0.1:0"))
	set("TCP6", serve(t, "tcp6", "[::1]:0"))
	set("UDP", answer(t, "udp4", "127.0.0.1:0"))
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	set("SOCKET", serve(t, "unix", filepath.Join(dir, "socket")))
	set("ABSTRACT", serve(t, "unix", "@ethos-escapes-"+strconv.Itoa(os.Getpid())))
	set("DATAGRAM", answer(t, "unixgram", filepath.Join(dir, "datagram")))
	leak(t, "/")
	set("HOSTPID", strconv.Itoa(os.Getpid()))
	return h
}

// serve answers every connection with what it is sent.
func serve(t *testing.T, network, address string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { io.Copy(c, c); c.Close() }()
		}
	}()
	return l.Addr().String()
}

func answer(t *testing.T, network, address string) string {
	t.Helper()
	c, err := net.ListenPacket(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	go func() {
		b := make([]byte, 64)
		for {
			n, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			c.WriteTo(b[:n], from)
		}
	}()
	return c.LocalAddr().String()
}

// leak opens a directory that every program that is started inherits.
func leak(t *testing.T, dir string) {
	t.Helper()
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
}

// place is where one case runs: a work space, a home directory, and a directory that nobody declared.
type place struct {
	base, work, home, out string
	variables             string
	environ               []string
	before                []string
}

func (h *host) place(t *testing.T, c Case) place {
	t.Helper()
	base, err := os.MkdirTemp("", "ethos-escape-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, base) })
	p := place{base: base, work: base + "/w", home: base + "/home", out: base + "/out"}
	for _, dir := range []string{p.work, p.home, p.out} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(p.out+"/secret", []byte("secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.environ = []string{"HOME=" + p.home, "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C", "TMPDIR=/tmp"}
	for _, entry := range c.Env {
		p.environ = append(p.environ, strings.NewReplacer("$W", p.work, "$H", p.home, "$OUT", p.out).Replace(entry))
	}
	p.variables = h.variables + fmt.Sprintf("W='%s'\nH='%s'\nOUT='%s'\n", p.work, p.home, p.out)
	if strings.Contains(c.Attack+c.After, "$VICTIM") {
		p.variables += "VICTIM=" + strconv.Itoa(victim(t)) + "\n"
	}
	if c.Setup != "" {
		if out, err := p.shell("set -e\n" + c.Setup).CombinedOutput(); err != nil {
			t.Fatalf("setup: %v: %s", err, out)
		}
	}
	p.before = p.tree(t)
	return p
}

// give makes somebody else the owner of the work space. Git enters it as everywhere
// where a person has said so.
func (p place) give(t *testing.T, id int) {
	t.Helper()
	err := filepath.WalkDir(p.work, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, id, id))
	})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := p.shell("git config --global --add safe.directory '*'").CombinedOutput(); err != nil {
		t.Logf("safe.directory: %v: %s", err, out)
	}
}

// victim is a process to be harmed.
func victim(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { cmd.Wait(); close(done) }()
	t.Cleanup(func() { cmd.Process.Kill(); <-done })
	return cmd.Process.Pid
}

// remove removes a tree whatever modes an attack gave to its directories, and nothing that was mounted in it.
func remove(t *testing.T, base string) {
	if table, err := os.ReadFile("/proc/self/mountinfo"); err != nil || strings.Contains(string(table), base) {
		t.Fatalf("%s is not removed: something is mounted in it (%v)", base, err)
	}
	filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			os.Chmod(path, 0o700)
		}
		return nil
	})
	if err := os.RemoveAll(base); err != nil {
		t.Error(err)
	}
}

// leavings are names under which a run leaves nothing behind.
var leavings = []string{"coding_ethos.yml", "repo_config.yaml", ".claude", ".codex", ".gemini", ".cursor", ".opencode", ".mcp.json", "opencode.json", "config.worktree", "attributes", "commondir", "hooks"}

// tree lists those that are there.
func (p place) tree(t *testing.T) (found []string) {
	t.Helper()
	err := filepath.WalkDir(p.base, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && slices.Contains(leavings, d.Name()) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// ghosts fails when the run left one of its own behind.
func (p place) ghosts(t *testing.T) {
	t.Helper()
	for _, path := range p.tree(t) {
		if !slices.Contains(p.before, path) {
			t.Errorf("left behind: %s", path)
		}
	}
}

// spec reads a case's flags, which are those of ethos-sandbox run.
func (p place) spec(c Case, script string) (sandbox.Spec, error) {
	s := sandbox.Spec{
		Asked: capability.OnProfile(""),
		Argv:  []string{"sh", "-c", p.variables + script}, Dir: p.work, Workspace: p.work, Environ: p.environ, NewSession: true, CloseStdin: true,
	}
	s.ReadPaths, s.Timeout = []string{self()}, patience
	flags := p.flags(c)
	for i := 0; i+1 < len(flags); i += 2 {
		if err := declare(&s, flags[i], flags[i+1]); err != nil {
			return s, err
		}
	}
	if len(c.Flags)%2 != 0 {
		return s, fmt.Errorf("flag %s has no value", c.Flags[len(c.Flags)-1])
	}
	return s, nil
}

// flags are those of a case with the names of the place.
func (p place) flags(c Case) []string {
	list := slices.Clone(c.Flags)
	for i := 1; i < len(list); i += 2 {
		list[i] = strings.NewReplacer("$W", p.work, "$H", p.home, "$OUT", p.out).Replace(list[i])
	}
	return list
}

// words are the flags as a command line has them: a switch stands alone there.
func (p place) words(c Case) (list []string) {
	for pair := range slices.Chunk(p.flags(c), 2) {
		if capability.Switch(strings.TrimPrefix(pair[0], "--")) {
			pair = []string{strings.TrimSuffix(strings.Join(pair, "="), "=true")}
		}
		list = append(list, pair...)
	}
	return list
}

func self() string {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return exe
}

// declare sets a flag of ethos-sandbox run, or what has none.
func declare(s *sandbox.Spec, name, value string) error {
	switch name {
	case "--profile":
		s.Base = capability.OnProfile(value).Base
	case "--allow-within-deny":
		s.AllowReadWithinDeny = append(s.AllowReadWithinDeny, value)
	case "--cache":
		s.CachePaths = append(s.CachePaths, value)
	case "--git":
		s.Git = value
	case "--cwd":
		s.Dir = value
	case "--workspace":
		s.Workspace = value
	default:
		return s.Flag(strings.TrimPrefix(name, "--"), value)
	}
	return nil
}
