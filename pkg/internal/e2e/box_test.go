package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
)

// host is what a confined command must not reach: a secret, a server, a process.
type host struct {
	secret string
	port   int
	victim *exec.Cmd
	mark   string // stands in the victim's command line
}

func newHost(t *testing.T, home string) *host {
	t.Helper()
	h := &host{secret: fmt.Sprintf("secret-%d", os.Getpid()), mark: fmt.Sprintf("86400.%d", os.Getpid())}
	if err := os.MkdirAll(filepath.Join(home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".ssh/id_ed25519"), []byte(h.secret), 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	h.port = server.Addr().(*net.TCPAddr).Port
	h.victim = exec.Command("sleep", h.mark)
	if err := h.victim.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.victim.Process.Kill(); h.victim.Wait() })
	return h
}

// attack tries everything and says "done" at the end; each prize is a word that only success prints.
func (h *host) attack() string {
	return fmt.Sprintf(`
cat ~/.ssh/id_ed25519
(exec 3<>/dev/tcp/127.0.0.1/%d) && echo connected
kill -0 %d && echo signalled
cat /proc/[0-9]*/cmdline | tr '\0' ' '
touch /etc/ethos-e2e-%d && echo touched
echo done`, h.port, h.victim.Process.Pid, os.Getpid())
}

func (h *host) prizes() []string {
	return []string{h.secret, "connected", "signalled", "sleep " + h.mark, "touched"}
}

// TestNothingOfTheHost: a command inside sees no secret, no server, no process of the host. Outside, the same script sees
// them all: it is the boundary that stops it.
func TestNothingOfTheHost(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	home := t.TempDir()
	s.env = append(s.env, "HOME="+home)
	h := newHost(t, home)
	etc := fmt.Sprintf("/etc/ethos-e2e-%d", os.Getpid())
	t.Cleanup(func() { os.Remove(etc) })

	outside := s.shell("bash -c '" + strings.ReplaceAll(h.attack(), "'", `'\''`) + "'")
	for _, prize := range h.prizes() {
		if prize == "touched" && os.Geteuid() != 0 {
			continue // /etc is not an ordinary user's
		}
		if !strings.Contains(outside.stdout, prize) {
			t.Errorf("outside, the attack did not get %q: the test proves nothing: %v", prize, outside)
		}
	}
	os.Remove(etc)

	s.write("attack.sh", h.attack())
	inside := s.shell("ethos-sandbox run -- bash attack.sh").mustSucceed(t)
	if !strings.HasSuffix(inside.stdout, "done\n") {
		t.Fatalf("the attack did not come to its end: %v", inside)
	}
	for _, prize := range h.prizes() {
		if strings.Contains(inside.stdout, prize) {
			t.Errorf("the command got %q of the host: %v", prize, inside)
		}
	}
	if _, err := os.Lstat(etc); err == nil {
		t.Errorf("%s was made on the host", etc)
	}
}

// TestBesideARun: while a command runs, others of the same work space are analysed, decided and run as ever.
func TestBesideARun(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	const pipe = "ethos-facts -- true | ethos-decide | ethos-sandbox | ethos-trace"
	s.write("beside.sh", `
set -eE -o pipefail
mkfifo begun end
exec 3<>begun 4<>end
trap 'echo "failed: $BASH_COMMAND" >&2' ERR
trap 'echo x >&4' EXIT # the run ends whatever fails
ethos-sandbox run --timeout 60s -- sh -c 'echo x > begun; read x < end' 3>&- 4>&- &
read -t 60 x <&3
timeout 60 bash -o pipefail -c '`+pipe+`'
GIT_CONFIG_GLOBAL=/dev/null timeout 60 ethos-git status --short
echo x >&4
wait $!`)
	s.shell("bash beside.sh").mustSucceed(t)
	s.shell(pipe).mustSucceed(t)
}

// TestRunsEnd: a run ends when it should, whatever the command does to stay.
func TestRunsEnd(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	for name, c := range map[string]struct {
		flags, script string
		status        int
	}{
		"ignores SIGTERM":       {"--timeout 1s", `trap "" TERM INT HUP; echo begun; while :; do :; done`, 124},
		"session of its own":    {"--timeout 1s", `echo begun; setsid sh -c "trap \"\" TERM; sleep MARK" & wait; sleep MARK`, 124},
		"orphan holds a stream": {"", `echo begun; sleep MARK & exit 7`, 7},
		"orphan in the dark":    {"", `echo begun; setsid sleep MARK >/dev/null 2>&1 </dev/null & exit 0`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			mark := fmt.Sprintf("86401.%d%d", os.Getpid(), len(name))
			s.write("command.sh", strings.ReplaceAll(c.script, "MARK", mark))
			o := s.shell("ethos-sandbox run "+c.flags+" -- sh command.sh").mustExit(t, c.status)
			if !strings.Contains(o.stdout, "begun") {
				t.Errorf("the command did not run: %v", o)
			}
			if left := processes(t, mark); left != "" {
				t.Errorf("left behind: %s", left)
			}
		})
	}
}

// processes are the command lines of this machine that contain a mark.
func processes(t *testing.T, mark string) string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && strings.Contains(string(line), mark) {
			found = append(found, file+": "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return strings.Join(found, "\n")
}

// TestOutputIsBounded: three gigabytes of output leave ethos-sandbox as small as three megabytes do.
func TestOutputIsBounded(t *testing.T) {
	probetest.Whole(t)
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	small, _ := s.flood("3M")
	large, stream := s.flood("3G")
	const slack = 24 << 20 // the collector's liberty
	if large > small+slack || large > 64<<20 {
		t.Errorf("%d MiB for 3M of output, %d MiB for 3G", small>>20, large>>20)
	}
	if !stream.Truncated || int64(len(stream.Text)) >= stream.Bytes {
		t.Errorf("stdout: %d bytes in all, %d kept, truncated %v", stream.Bytes, len(stream.Text), stream.Truncated)
	}
}

// flood runs a command with that much output and returns the peak memory of ethos-sandbox, in bytes, and what it kept.
func (s *session) flood(amount string) (int64, record.Stream) {
	s.t.Helper()
	decided := s.shell("ethos-facts -c 'yes | head -c " + amount + "' | ethos-decide").mustSucceed(s.t).stdout
	cmd := s.command("ethos-sandbox")
	in, out := s.stdin(cmd), record.NewReader(s.stdout(cmd), 0)
	s.start(cmd)
	fmt.Fprint(in, decided)
	for {
		line, err := out.Next()
		if err != nil {
			s.t.Fatal(err)
		}
		if line.Kind() != record.LineAction {
			continue
		}
		peak := s.peak(cmd)
		in.Close()
		cmd.Wait() // the status is the command's business: it may have been ended
		return peak, member[record.Result](s.t, line, "result").Capture.Stdout
	}
}
