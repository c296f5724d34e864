package boundary

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ethos/pkg/shorttest"
)

// TestSessionPlain: a command without flags, which is requested before the
// program's main function, is the same as one that main requests.
func TestSessionPlain(t *testing.T) {
	l := lodged(t)
	const script = "id; pwd; umask; ulimit -a; env | sort; ls -l /proc/self/fd | wc -l; grep -E '^(Cap|Sig|Seccomp|NoNew)' /proc/self/status"
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(l.dir, link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{l.dir, link} {
		says := func(flags ...string) string {
			cmd := sandboxed(t, l.dir, append(append([]string{"run", "--session", "w"}, flags...), "--", "sh", "-c", script)...)
			cmd.Dir = dir
			cmd.Env = append(cmd.Env, "PWD="+dir, "SECRET_TOKEN=x", "LC_ALL=C", "TERM=dumb", "GIT_DIR=/x", "LD_PRELOAD=", "ODD")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			return string(out)
		}
		early, late := says(), says("--evidence", filepath.Join(t.TempDir(), "evidence"))
		if early != late || !strings.Contains(early, "LC_ALL=C\n") || strings.Contains(early, "SECRET") {
			t.Errorf("%s:\n%s\nand from main:\n%s", dir, early, late)
		}
	}
}

// TestSessionPlainTwice: of a variable that a client has twice, the first value
// counts, as in every Go program.
func TestSessionPlainTwice(t *testing.T) {
	l := lodged(t)
	says := func(flags ...string) string {
		exe, err := program()
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "out")
		f, err := os.Create(out)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		env := append(sandboxed(t, l.dir).Env, "LC_ALL=1", "LC_ALL=2", "TERM=1", "", "PATH=/none", "TERM=2", "HOME=/none")
		argv := append(append([]string{exe, "run", "--session", "w"}, flags...), "--", "env")
		p, err := os.StartProcess(exe, argv, &os.ProcAttr{Dir: l.dir, Env: env, Files: []*os.File{f, f, f}})
		if err != nil {
			t.Fatal(err)
		}
		state, err := p.Wait()
		text, err2 := os.ReadFile(out)
		if err != nil || err2 != nil || !state.Success() {
			t.Fatalf("%v %v %v: %s", err, err2, state, text)
		}
		lines := strings.Split(string(text), "\n")
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}
	early, late := says(), says("--evidence", filepath.Join(t.TempDir(), "evidence"))
	if early != late || !strings.Contains(early, "\nLC_ALL=1\n") || strings.Contains(early, "none") {
		t.Errorf("%s\nand from main:\n%s", early, late)
	}
}

// TestSessionPlainClosed: a command runs whichever of its streams are closed,
// and whenever it ends.
func TestSessionPlainClosed(t *testing.T) {
	l := lodged(t)
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	for _, closed := range []string{"<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"} {
		for _, script := range []string{"exit 3", "sleep 0.05; exit 3", "echo x >&2; exit 3"} {
			cmd := exec.Command("/bin/sh", "-c", `"$0" run --session w -- sh -c "$1" `+closed, exe, script)
			cmd.Dir, cmd.Env = l.dir, sandboxed(t, l.dir).Env
			if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 3 {
				t.Errorf("%s %q: %v: %s", closed, script, cmd.ProcessState, out)
			}
		}
	}
}

// TestSessionPlainOutput: the output of a command arrives whole, whenever it
// ends and whoever reads.
func TestSessionPlainOutput(t *testing.T) {
	l := lodged(t)
	for script, want := range map[string]string{
		"":                                    "",
		"printf x":                            "x",
		"sleep 0.02; printf x":                "x",
		"printf x; sleep 0.02; printf y >&2":  "xy",
		"printf x; exec >&- 2>&-; sleep 0.02": "x",
		"(sleep 0.005; printf late; >/tmp/late; sleep 1) & until [ -e /tmp/late ]; do sleep 0.01; done; rm /tmp/late": "late",
		"head -c 300000 /dev/zero | tr '\\0' x": strings.Repeat("x", 300000),
	} {
		for range shorttest.Count(20, 5) {
			if out, err := sandboxed(t, l.dir, "run", "--session", "w", "--", "sh", "-c", script).CombinedOutput(); err != nil || string(out) != want {
				t.Errorf("%q: %v, %d bytes: %.100q", script, err, len(out), out)
				break
			}
		}
	}
}

// TestSessionPlainUnread: a command that prints without end ends with its
// reader.
func TestSessionPlainUnread(t *testing.T) {
	l := lodged(t)
	for _, wait := range []time.Duration{0, time.Millisecond, 100 * time.Millisecond} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := sandboxed(t, l.dir, "run", "--session", "w", "--", "yes", wait.String())
		cmd.Stdout = w
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		time.Sleep(wait)
		r.Close()
		if status := l.wait(cmd); status == 0 {
			t.Errorf("%v: status 0", wait)
		}
		l.until("yes runs on", func() bool { return len(l.processes("yes "+wait.String())) == 0 })
	}
}
