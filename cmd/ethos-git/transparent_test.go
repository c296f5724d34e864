package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// world is a home with an external command git-probe that shows what reaches a program.
type world struct {
	t   *testing.T
	dir string
	bin string // the programs under test
}

const probe = `#!/bin/sh
for word; do printf '<%s>' "$word"; done | od -An -c
env | grep -v '^_=' | LC_ALL=C sort
grep -E '^(Sig(Ign|Blk|Pnd)|NoNewPrivs|Seccomp|Umask)' /proc/self/status
cat /proc/self/limits
ls /proc/self/fd
pwd
exit 42
`

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, bin: programs(t)}
	w.write("home/.gitconfig", gitConfig, 0o644)
	w.write("bin/git-probe", probe, 0o755)
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) write(name, text string, mode os.FileMode) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), mode); err != nil {
		w.t.Fatal(err)
	}
}

// script runs a shell script in which git is the real one, or ethos-git. The paths that lead to git are of one length, and the
// only difference between the two environments.
func (w *world) script(guarded bool, script string) (stdout, stderr string, status int) {
	w.t.Helper()
	which := "none"
	if guarded {
		which = "asgit"
	}
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = w.path("home")
	cmd.Env = []string{"HOME=" + w.path("home"), "PATH=" + w.bin + "/" + which + ":" + w.path("bin") + ":/usr/local/bin:/usr/bin:/bin",
		"GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "ETHOS_STORE=" + w.path("store"), "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z",
		"GIT_TERMINAL_PROMPT=0", "BIN=" + w.bin, "EDITOR=true"}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		w.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// same runs a script with git and with ethos-git, and expects no difference.
func (w *world) same(script string) {
	w.t.Helper()
	out, errs, status := w.script(false, script)
	gout, gerrs, gstatus := w.script(true, script)
	out, gout = strings.ReplaceAll(out, "/none:", "/PATH:"), strings.ReplaceAll(gout, "/asgit:", "/PATH:")
	if d := cmp.Diff([]any{out, errs, status}, []any{gout, gerrs, gstatus}); d != "" {
		w.t.Errorf("%s\n(-git +ethos-git) %s", script, d)
	}
}

// TestTransparent compares what reaches a program through git and through ethos-git.
func TestTransparent(t *testing.T) {
	w := newWorld(t)
	w.script(false, `git init -q repo && cd repo && git commit -q --allow-empty -m "a subject" && echo x >loose`)
	for _, script := range []string{
		`git probe`,
		`git probe a 'b c' '' "$(printf 'new\nline')" "$(printf 'caf\351 \001\377')" --opt='"quoted"' '*' '$HOME' '\'`,
		`echo input | git hash-object --stdin`,
		`git hash-object --stdin </dev/null`,
		`git nonsense; echo $?; git status; echo $?; git; echo $?; git log -h; echo $?`,
		`git version; git --version; git help -g; git --exec-path; git --html-path`,
		`git rev-parse --sq-quote "$(printf 'a\nb')" "$(printf '\377')"`,
		`exec 7</dev/null; git probe`,
		`ulimit -n 256; umask 077; git probe`,
		`trap '' HUP INT; exec git probe`,
		`cd / && git probe`,
		`git -c color.ui=always -c core.pager=cat probe`,
		`GIT_PAGER=cat GIT_OPTIONAL_LOCKS=0 FOO='a b' git probe`,
		`git diff --no-index /etc/hostname /etc/passwd | wc -l; git diff --no-index /dev/null /dev/null; echo $?`,
		`(git ls-remote /nowhere; echo $?) 2>&1`,
		`git cat-file --batch-check </dev/null; echo $?`,
		`exec 1>&-; git version; echo $? >&2`,
		`git-upload-pack --advertise-refs repo | od -c | head -3; git-receive-pack nowhere; echo $?`,
		`cd repo && git -c core.pager=cat -p log --format=%s`,
		`cd repo && PAGER=cat script -qec 'git status; git diff --stat; git -c color.ui=auto log -1 --format=%Cred%s; test -t 0 && test -t 1 && git probe | head -1' /dev/null`,
		`cd repo && PAGER=cat script -qec 'stty cols 40; git log --format=%s; git branch' /dev/null`,
	} {
		w.same(script)
	}
}

// TestSignals ends git by signals sent to the process that was started.
func TestSignals(t *testing.T) {
	w := newWorld(t)
	w.script(false, "git init -q repo")
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGKILL, syscall.SIGPIPE, syscall.SIGUSR1} {
		if got := w.signalled(sig, ""); got != sig {
			t.Errorf("%v: ended by %v", sig, got)
		}
	}
	if got := w.signalled(syscall.SIGHUP, "trap '' HUP;"); got != 0 {
		t.Errorf("SIGHUP under nohup: ended by %v", got)
	}
}

// signalled starts git cat-file --batch, which waits for input, sends it the signal, and then ends its input.
func (w *world) signalled(sig syscall.Signal, before string) syscall.Signal {
	w.t.Helper()
	cmd := exec.Command("sh", "-c", before+"exec git cat-file --batch")
	cmd.Dir = w.path("home/repo")
	cmd.Env = []string{"HOME=" + w.path("home"), "PATH=" + w.bin + "/asgit:/usr/bin:/bin", "ETHOS_STORE=" + w.path("store")}
	in, err := cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.becomesGit(cmd.Process.Pid)
	cmd.Process.Signal(sig)
	if before != "" {
		time.Sleep(50 * time.Millisecond) // the signal must not end it
	}
	in.Close()
	cmd.Wait()
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() {
		return ws.Signal()
	}
	return 0
}

// becomesGit waits until the process runs the real git: the same process, and no other between.
func (w *world) becomesGit(pid int) {
	w.t.Helper()
	for range 500 {
		exe, _ := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
		if exe != "" && !strings.HasPrefix(exe, w.bin) && filepath.Base(exe) == "git" {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.t.Fatal("the process did not become git")
}
