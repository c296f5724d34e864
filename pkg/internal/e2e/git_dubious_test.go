package e2e

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ethos/pkg/internal/probetest"
)

// stranger is a user to whom nothing belongs.
const stranger = 4321

// shared is a place that every user can look at, with a home and in it a repository of somebody's making.
type shared struct {
	t   *testing.T
	dir string
	bin string
	as  *syscall.Credential // nil is who runs the test
}

const sharedConfig = "[user]\n\tname = A\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n"

func newShared(t *testing.T) *shared {
	t.Helper()
	bin, err := bin()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{filepath.Dir(dir), dir, dir + "/home", dir + "/asgit", dir + "/isgit"} { // of two names as long as each other
		if err := errors.Join(os.MkdirAll(d, 0o755), os.Chmod(d, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(bin+"/ethos-git", dir+"/asgit/git"); err != nil {
		t.Fatal(err)
	}
	w := &shared{t: t, dir: dir, bin: bin}
	w.configure("")
	_, errs, status := w.script(false, `git init -q --bare ../remote.git; git init -q repo && cd repo && git commit -q --allow-empty -m one && git remote add origin ../../remote.git &&
		git push -q -u origin main && git commit -q --amend --allow-empty -m two && git config alias.p 'push --force origin main' && git config alias.hello '!: >$HOME/ran'`)
	if status != 0 {
		t.Fatal(errs)
	}
	return w
}

func (w *shared) path(name string) string { return filepath.Join(w.dir, name) }

// configure writes the user's configuration.
func (w *shared) configure(more string) {
	w.t.Helper()
	if err := os.WriteFile(w.path("home/.gitconfig"), []byte(sharedConfig+more), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// script runs a shell script in the home, where git is the real one or ethos-git.
func (w *shared) script(guarded bool, script string) (stdout, stderr string, status int) {
	w.t.Helper()
	which := "/isgit"
	if guarded {
		which = "/asgit"
	}
	cmd := exec.CommandContext(w.t.Context(), "sh", "-c", script)
	cmd.Dir = w.path("home")
	cmd.Env = append(environ(), "HOME="+w.path("home"), "PATH="+w.dir+which+":/usr/local/bin:/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "ETHOS_STORE="+w.path("store"), "BIN="+w.bin)
	if w.as != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: w.as}
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		w.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// same runs a script with git and with ethos-git, and expects no difference.
func (w *shared) same(script string) {
	w.t.Helper()
	out, errs, status := w.script(false, script)
	gout, gerrs, gstatus := w.script(true, script)
	if out != gout || errs != gerrs || status != gstatus {
		w.t.Errorf("%s\ngit: %d %s%s\nethos-git: %d %s%s", script, status, out, errs, gstatus, gout, gerrs)
	}
}

// give makes a tree somebody's.
func (w *shared) give(name string, uid int) {
	w.t.Helper()
	err := filepath.WalkDir(w.path(name), func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, uid)
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// dubious is what git is asked in a repository that it does not enter.
var dubious = []string{`git status`, `git log`, `git push`, `git push origin topic`, `git commit --allow-empty -m x`, `git hello`, `git p`, `git config --list`, `git config alias.p`, `git config user.name B`,
	`git version`, `git ls-remote ../../remote.git`, `git ls-remote`, `git rev-parse --git-dir`, `git -C . branch`, `git add .`, `git diff --no-index /etc/hostname /etc/passwd`, `git worktree list`,
	`git -c safe.directory=/elsewhere status`, `git submodule status`, `cd .git && git log`, `git -C ../repo status`, `cd .. && git -C repo hello`}

// refusedThere is what policy refuses there as elsewhere.
var refusedThere = []string{`git push --force origin main`, `git push -f origin +HEAD:main`, `git commit --no-verify -m x`, `git -c core.fsmonitor=./evil status`, `git -c alias.x='!evil' x`,
	`cd .. && git -C repo push --force origin main`}

// entered are ways into it that git leaves open. What the repository's configuration says then counts for git, and so for policy.
var entered = []string{`git -c safe.directory='*' p`, `git --git-dir=.git p`, `GIT_DIR=.git git p`, `GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0="$PWD" git p`}

// holdsDubious compares git with ethos-git in a repository that git does not enter.
func (w *shared) holdsDubious() {
	w.t.Helper()
	before, _, _ := w.script(false, `git --git-dir=../remote.git for-each-ref; cat repo/.git/config; ls -A repo`)
	for _, script := range dubious {
		w.same("cd repo && " + script)
	}
	for _, script := range refusedThere {
		if out, errs, status := w.script(true, "cd repo && "+script); status != 125 || !strings.HasPrefix(errs, "ethos-git: error: ") {
			w.t.Errorf("%s: %d %s%s", script, status, out, errs)
		}
	}
	if out, errs, status := w.script(true, `cd repo && "$BIN/ethos-git" ethos trust`); status != 125 || !strings.Contains(errs, "safe.directory") {
		w.t.Errorf("trust: %d %s%s", status, out, errs)
	}
	if after, _, _ := w.script(false, `git --git-dir=../remote.git for-each-ref; cat repo/.git/config; ls -A repo`); after != before {
		w.t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	for _, script := range entered {
		if out, errs, status := w.script(true, "cd repo && "+script); status != 125 || !strings.Contains(errs, "git.force_push_protected") {
			w.t.Errorf("%s: %d %s%s", script, status, out, errs)
		}
	}
	if _, err := os.Stat(w.path("home/ran")); err == nil {
		w.t.Error("an alias of the repository ran")
	}
}

// holdsSafe: where safe.directory names the repository, it is read as any other, and so are its aliases.
func (w *shared) holdsSafe() {
	w.t.Helper()
	const script = "cd repo && git log --format=%s && git config alias.p && git rev-parse HEAD"
	if _, errs, status := w.script(true, "cd repo && git log"); status != 125 || !strings.Contains(errs, "git.planted_code") { // its alias is a program
		w.t.Errorf("%d %s", status, errs)
	}
	if out, err := exec.Command("git", "config", "-f", w.path("home/repo/.git/config"), "--unset", "alias.hello").CombinedOutput(); err != nil {
		w.t.Fatalf("%s", out)
	}
	want, _, _ := w.script(false, script)
	if got, errs, status := w.script(true, script); got != want || status != 0 { // that nothing can be remembered there is said on stderr
		w.t.Errorf("%d %s%s, want %s", status, got, errs, want)
	}
	out, errs, status := w.script(true, "cd repo && git p")
	if status != 125 || !strings.Contains(errs, "git.force_push_protected") {
		w.t.Errorf("%d %s%s", status, out, errs)
	}
}

// TestDubious: root in a repository of another user.
func TestDubious(t *testing.T) {
	probetest.Need(t, probetest.Root)
	w := newShared(t)
	w.give("home/repo", stranger)
	w.holdsDubious()
	w.configure("[safe]\n\tdirectory = " + w.path("home/repo") + "\n")
	w.holdsSafe()
}

// TestDubiousUser: an ordinary user in a repository of root's.
func TestDubiousUser(t *testing.T) {
	probetest.Need(t, probetest.Root)
	w := newShared(t)
	w.as = &syscall.Credential{Uid: stranger, Gid: stranger}
	if err := os.MkdirAll(w.path("store"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.give("store", stranger)
	w.holdsDubious()
	w.configure("[safe]\n\tdirectory = *\n")
	w.holdsSafe()
}
