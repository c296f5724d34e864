package boundary

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/landlock"
)

// needTruncate skips where Landlock does not hold truncate(2).
func needTruncate(t *testing.T) {
	t.Helper()
	probetest.NeedFunc(t, "landlock-abi-3", func() string {
		if kernel, err := landlock.Probe(); err != nil || kernel.ABI < 3 {
			return "Landlock has no ABI 3 here"
		}
		return ""
	})
}

// TestSessionCommandCannotWrite: a command that does without writing changes
// nothing below the paths, whichever way it tries; beside them it writes, and so
// does the next command there.
func TestSessionCommandCannotWrite(t *testing.T) {
	needTruncate(t)
	l := lodged(t)
	flags := []string{"run", "--session", "w", "--deny-write", "/tmp", "--deny-write", l.dir, "--"}
	if _, errs, status := l.sh("mkdir d; echo kept > a; chmod 640 a; touch -d @1000 a; ln -s $PWD/a link; mkfifo fifo; ln -s $PWD /dev/shm/way"); status != 0 {
		t.Fatal(errs)
	}
	state := func() string {
		out, _, _ := l.sh("stat -c '%n %f %s %Y %h' *; cat a")
		return out
	}
	before := state()
	for _, attack := range []string{
		"echo x > new", "echo x >> a", "echo x > link", ": > a", "truncate -s 0 a", "rm a", "mv a b", "mv a /dev/shm/a", "ln a /dev/shm/a", "ln -s x y",
		"mkdir e", "rmdir d", "mkfifo f", "chmod 777 a", "touch a", "touch -d @5 a", "cp /etc/passwd a", "echo x > /proc/self/cwd/new", "echo x > /dev/shm/way/a",
		"exec 3< a; echo x > /proc/self/fd/3", "exec 3< .; echo x > /proc/self/fd/3/new", "cd /; echo x > $OLDPWD/new", "(echo x > new) & wait $!", "setsid -w sh -c 'echo x > new'",
		"sh -c 'exec sh -c \"echo x > new\"'", "echo x > /proc/2/root$PWD/new", "dd of=a conv=notrunc bs=1 count=1 if=/dev/zero", "(sleep 0.2; echo late > new) >/dev/null 2>&1 & exit 1",
	} {
		if out, _, status := l.does("", append(flags, "sh", "-c", attack)...); status == 0 || status > 124 {
			t.Errorf("%s: status %d: %s", attack, status, out)
		}
	}
	l.until("the background does not end", func() bool { return len(l.status().Processes) == 0 })
	if now := state(); now != before {
		t.Errorf("before\n%safter\n%s", before, now)
	}
	if out, errs, status := l.does("", append(flags, "sh", "-c", "echo on > /dev/shm/x && cat a /dev/shm/x && echo > /dev/null && ls d")...); out != "kept\non\n" || status != 0 {
		t.Errorf("what it may: %d %q %s", status, out, errs)
	}
	if out, errs, status := l.sh("echo x > new && chmod 600 a && touch a && rm new && echo on > /tmp/x"); status != 0 {
		t.Errorf("the next command: %d %s%s", status, out, errs)
	}
}

// TestSessionCommandCannotRead: a command that does without reading gets the content
// of nothing below the path, whichever way it tries; the next command does. Names
// and sizes it sees.
func TestSessionCommandCannotRead(t *testing.T) {
	l := lodged(t)
	flags := []string{"run", "--session", "w", "--deny-read", "/etc", "--"}
	if _, errs, status := l.sh("ln -s /etc/passwd link; ln -s /etc way; sleep 1000 </etc/passwd >/dev/null 2>&1 & echo $! > pid"); status != 0 {
		t.Fatal(errs)
	}
	for _, attack := range []string{
		"cat /etc/passwd", "cat link", "cat way/passwd", "cat /proc/self/root/etc/passwd", "cat /proc/1/root/etc/passwd", "cat /proc/$(cat pid)/fd/0", "cd /etc && cat passwd",
		"cp /etc/passwd copy", "ln /etc/passwd hard && cat hard", "mv /etc/passwd copy", "read x < /etc/passwd", "setsid -w cat /etc/passwd", "(cat /etc/passwd) & wait $!",
	} {
		if out, _, status := l.does("", append(flags, "sh", "-c", attack)...); status == 0 || status > 124 || strings.Contains(out, "root:") {
			t.Errorf("%s: status %d: %s", attack, status, out)
		}
	}
	if out, errs, status := l.sh("cat link"); status != 0 || !strings.Contains(out, "root:") {
		t.Errorf("the next command: %d %s%s", status, out, errs)
	}
	if out, errs, status := l.does("", append(flags, "sh", "-c", "test -s /etc/passwd && echo x > new && cat new && chmod 600 new")...); out != "x\n" || status != 0 {
		t.Errorf("what it may: %d %q %s", status, out, errs)
	}
}

// TestSessionCommandHasNoNetwork: a command that does without the network makes no
// socket, nor do its children; the next command does.
func TestSessionCommandHasNoNetwork(t *testing.T) {
	probetest.Need(t, "command:bash")
	l := lodged(t)
	for _, attack := range []string{
		"exec 3<>/dev/tcp/127.0.0.1/9", "exec 3<>/dev/tcp/::1/9", "echo x > /dev/udp/127.0.0.1/9", "(exec 3<>/dev/tcp/127.0.0.1/9) & wait $!", "setsid -w bash -c 'exec 3<>/dev/tcp/127.0.0.1/9'",
	} {
		for _, without := range []bool{true, false} {
			args := []string{"run", "--session", "w", "--", "bash", "-c", attack}
			if without {
				args = append([]string{"run", "--session", "w", "--net", "none"}, args[3:]...)
			}
			_, errs, _ := l.does("", args...)
			if refused := strings.Contains(errs, "family not supported"); refused != without {
				t.Errorf("%s, without a network %v: %s", attack, without, errs)
			}
		}
	}
}

// TestSessionNarrowedStreams: what a client hands over gives a command nothing that
// it does without.
func TestSessionNarrowedStreams(t *testing.T) {
	needTruncate(t)
	l := lodged(t)
	if err := os.WriteFile(l.dir+"/a", []byte("kept\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	to, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	socket, err := to.(*net.TCPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	file, err := os.Open(l.dir + "/a")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		stdin  *os.File
		script string
		flags  []string
		status int
	}{
		{file, "cat; echo x > /proc/self/fd/0", []string{"--deny-write", "/tmp", "--deny-write", l.dir}, 2},
		{file, "echo kept > /proc/self/fd/0", nil, 0},
		{socket, "true", []string{"--net", "none"}, 125},
		{socket, "true", nil, 0},
	} {
		cmd := sandboxed(t, l.dir, append(append([]string{"run", "--session", "w"}, c.flags...), "--", "sh", "-c", c.script)...)
		var errs bytes.Buffer
		cmd.Stdin, cmd.Stderr = c.stdin, &errs
		if status := l.wait(cmd); status != c.status {
			t.Errorf("%s with %q: %d %s", c.script, c.flags, status, &errs)
		}
	}
	if text := contents(t, l.dir+"/a"); string(text) != "kept\n" {
		t.Errorf("%q", text)
	}
}

// TestSessionNarrowedEvidence says what a command did without; what cannot be had
// by less is refused.
func TestSessionNarrowedEvidence(t *testing.T) {
	needTruncate(t)
	l := lodged(t)
	name := filepath.Join(t.TempDir(), "evidence")
	l.must("run", "--session", "w", "--workspace", l.dir, "--net", "none", "--deny-write", "/opt", "--evidence", name, "--", "true")
	var result record.Result
	if err := json.Unmarshal(contents(t, name), &result); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(result.Capture.Sandbox.Narrowed, "|"); got != "network none|deny_write /opt" {
		t.Errorf("%q", got)
	}
	if err := os.Mkdir(l.dir+"/part", 0o755); err != nil {
		t.Fatal(err)
	}
	for why, flags := range map[string][]string{
		"stays writable": {"--deny-write", "part"},
		"no such file":   {"--deny-write", "nosuch"},
		"/dev or /proc":  {"--deny-write", "/"},
		"of the session": {"--memory", "1000G"},
		"stays readable": {"--deny-read", "part"},
		"something that session w does not have\n":   {"--ro", "/root/hidden"},
		"needs more than session w has":              {"--profile", "agent-network"},
		"something that session w does not have\n\n": {"--net", "host"},
	} {
		_, errs, status := l.does("", append(append([]string{"run", "--session", "w"}, flags...), "--", "touch", "ran")...)
		if status != 125 || !strings.Contains(errs, strings.TrimSpace(why)) || !strings.Contains(errs, "hint: ") {
			t.Errorf("%q: %d %s", flags, status, errs)
		}
	}
	if _, err := os.Stat(l.dir + "/ran"); err == nil {
		t.Error("one of them ran")
	}
}

// TestSessionApart: what the rules of a process cannot take from a command, it lacks in a boundary of its own, if it has no network to share. It has no more
// there than in the session.
func TestSessionApart(t *testing.T) {
	needTruncate(t)
	l := lodged(t, "--env", "ASKED=yes", "--net", "loopback")
	for name, text := range map[string]string{"part/secret": "secret\n", "a": "kept\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(l.dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, errs, status := l.sh("echo warm >/tmp/f; cat part/secret; echo ours >b"); out != "secret\n" || status != 0 {
		t.Fatalf("the session: %q %s", out, errs)
	}
	name := filepath.Join(t.TempDir(), "evidence")
	run := func(flags ...string) func(script string) (string, string, int) {
		return func(script string) (string, string, int) {
			return l.does("", append(append([]string{"run", "--session", "w", "--evidence", name}, flags...), "--", "sh", "-c", script)...)
		}
	}
	linter, blind := run("--profile", "lint-offline", "--env", "OWN=mine"), run("--net", "none", "--deny-read", "part")
	for _, attack := range []string{"echo x >a", "echo x >new", "rm a", "mkdir d", "chmod 600 a", "cat /tmp/f"} {
		if out, _, status := linter(attack); status == 0 || status > 124 {
			t.Errorf("the linter: %s: %d %s", attack, status, out)
		}
	}
	for _, attack := range []string{"cat part/secret", "ls part", "cat /proc/1/root$PWD/part/secret", "cat /tmp/f"} {
		if out, _, status := blind(attack); status == 0 || status > 124 || strings.Contains(out, "secret") {
			t.Errorf("blind: %s: %d %s", attack, status, out)
		}
	}
	if out, errs, status := linter("cat a b && echo $OWN"); out != "kept\nours\nmine\n" || status != 0 {
		t.Errorf("what the linter may: %d %q %s", status, out, errs)
	}
	if out, errs, status := blind("echo on >>b && cat a b && echo $ASKED"); out != "kept\nours\non\nyes\n" || status != 0 {
		t.Errorf("what the blind may: %d %q %s", status, out, errs)
	}
	var result record.Result
	if err := json.Unmarshal(contents(t, name), &result); err != nil {
		t.Fatal(err)
	}
	box := result.Capture.Sandbox
	if got := strings.Join(box.Narrowed, "|"); got != "everything of session w: it ran in a boundary of its own" || box.Session != "" || box.Asked == nil || box.Asked.Capabilities.Network.Mode != "none" {
		t.Errorf("%q, session %q, %+v", got, box.Session, box.Asked)
	}
	if _, _, status := linter("exit 7"); status != 7 {
		t.Errorf("the status is %d", status)
	}
	if text := string(contents(t, l.dir+"/a")); text != "kept\n" || len(l.status().Processes) != 0 {
		t.Errorf("%q, %v", text, l.status().Processes)
	}
}

// TestSessionApartIsWithin: a boundary of its own has nothing that the session lacks.
func TestSessionApartIsWithin(t *testing.T) {
	needTruncate(t)
	l := &lodge{t, space(t)}
	probetest.Need(t, probetest.UserNS)
	if err := os.WriteFile(filepath.Join(l.dir, "hidden"), []byte("secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	beside := filepath.Join(t.TempDir(), "beside")
	if err := os.WriteFile(beside, []byte("secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	l.start("--deny-read", "hidden")
	t.Cleanup(func() { l.must("session", "end", "--all") })
	for _, flags := range [][]string{{"--profile", "lint-offline"}, {"--net", "none", "--deny-write", "none?"}, {"--net", "none", "--ro", l.dir}} {
		for _, attack := range []string{"cat hidden", "cat " + beside} {
			out, errs, status := l.does("", append(append([]string{"run", "--session", "w"}, flags...), "--", "sh", "-c", attack)...)
			if status == 0 || strings.Contains(out, "secret") {
				t.Errorf("%q: %s: %d %s%s", flags, attack, status, out, errs)
			}
		}
	}
	for _, flags := range [][]string{{"--profile", "lint-offline", "--ro", beside}, {"--net", "none", "--ro", beside}, {"--profile", "agent-network"}} {
		if out, errs, status := l.does("", append(append([]string{"run", "--session", "w"}, flags...), "--", "cat", beside)...); status == 0 || !strings.Contains(errs, "hint: ") {
			t.Errorf("%q: %d %s%s", flags, status, out, errs)
		}
	}
	if out, errs, status := l.does("", "run", "--session", "w", "--net", "none", "--ro", l.dir, "--", "sh", "-c", "ls && echo seen"); !strings.HasSuffix(out, "seen\n") || status != 0 {
		t.Errorf("the twin: %d %s%s", status, out, errs)
	}
	if out, errs, status := l.does("", "run", "--session", "w", "--profile", "lint-offline", "--", "sh", "-c", "ls && echo seen"); !strings.HasSuffix(out, "seen\n") || status != 0 {
		t.Errorf("the linter: %d %s%s", status, out, errs)
	}
}
