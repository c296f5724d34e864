package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ethos/pkg/shorttest"
)

// inside runs a script in ethos-sandbox shell, in the work space home/ws, whose remote lies outside.
func (w *world) inside(script string, flags ...string) (stdout, stderr string, status int) {
	w.t.Helper()
	words := strings.Join(flags, " ")
	w.write("script", script, 0o644)
	return w.script(false, `cd ws && exec ethos-sandbox shell --undecided `+words+` -c "$(cat `+w.path("script")+`)"`)
}

// newInside is a world with a work space: a repository with a protected branch and a remote outside.
func newInside(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	_, errs, status := w.script(false, `ln -s "$BIN/ethos-sandbox" ../bin/ethos-sandbox; git init -q --bare ../remote.git; git init -q ws && cd ws &&
		git commit -q --allow-empty -m one && git remote add origin ../../remote.git && git push -q -u origin main && git commit -q --amend --allow-empty -m two`)
	if status != 0 {
		t.Fatal(errs)
	}
	return w
}

// refs are the branches of the work space and of the remote.
func (w *world) refs() string {
	w.t.Helper()
	out, errs, status := w.script(false, `git -C ws for-each-ref; git --git-dir=../remote.git for-each-ref; cat ws/.git/config; ls ws/.git/hooks`)
	if status != 0 {
		w.t.Fatal(errs)
	}
	return out
}

// TestEveryGitInside: by whatever name the command calls git, it is ethos-git, which refuses what it refuses outside.
func TestEveryGitInside(t *testing.T) {
	shorttest.Long(t)
	w := newInside(t)
	before := w.refs()
	calls := shorttest.Sample([]string{
		`git`, `/usr/bin/git`, `"$(command -v git)"`, `env -i /usr/bin/git`, `/bin/git`, `/usr/bin/../bin/git`, `/proc/self/root/usr/bin/git`, `env -u PATH /usr/bin/git`, `sh -c 'exec git "$@"' sh`,
	}, 3)
	var script strings.Builder
	for _, call := range calls {
		script.WriteString(call + ` commit -q --no-verify --allow-empty -m evil; echo "status $?"; ` + call + ` push --force origin main; echo "status $?"; ` + call + " log --format=%s\n")
	}
	out, errs, status := w.inside(script.String())
	if out != strings.Repeat("status 125\nstatus 125\ntwo\n", len(calls)) || strings.Count(errs, "git.hook_bypass") != len(calls) || status != 0 {
		t.Errorf("%d %s%s", status, out, errs)
	}
	if d := cmp.Diff(before, w.refs()); d != "" {
		t.Error(d)
	}
}

// TestRealGitInside: the real git can be found inside. What it could do harm with is held by the sandbox, whichever program tries.
func TestRealGitInside(t *testing.T) {
	shorttest.Long(t)
	w := newInside(t)
	before := w.refs()
	for _, way := range []string{
		`/run/ethos/git`, `"$(git --exec-path)/git"`, `/proc/self/root/run/ethos/git`, `/tmp/copied`, `./copied`,
	} {
		out, errs, _ := w.inside(`cp /run/ethos/git /tmp/copied; cp /run/ethos/git copied
			` + way + ` --version >/dev/null && echo found
			` + way + ` config core.fsmonitor ./evil && echo configured
			` + way + ` config --global core.pager ./evil && ` + way + ` -C / config core.pager >/dev/null
			` + way + ` push --force origin main && echo pushed
			echo evil > .git/hooks/pre-commit && echo hooked
			` + way + ` init -q --template="$PWD" . && echo templated
			rm -f copied`)
		if out != "found\nconfigured\n" && out != "found\nconfigured\ntemplated\n" { // its copy of the configuration counts inside
			t.Errorf("%s: %s%s", way, out, errs)
		}
		if d := cmp.Diff(before, w.refs()); d != "" {
			t.Errorf("%s: %s", way, d)
		}
	}
}

// TestManagedGitStays: what is in git's place can be neither removed nor replaced, and what it needs neither.
func TestManagedGitStays(t *testing.T) {
	w := newInside(t)
	for _, script := range []string{
		`rm -f /usr/bin/git`, `: > /usr/bin/git`, `mv /usr/bin/git /usr/bin/g`, `: > /run/ethos/git`, `rm -f /run/ethos/ethos-decide`, `mv /run/ethos /run/e`, `: > /run/ethos/new`,
		`umount /usr/bin/git`, `cp /bin/true /run/ethos/traces/x && chmod +x /run/ethos/traces/x && /run/ethos/traces/x`,
	} {
		out, errs, status := w.inside(script + ` && echo "done"; git commit -q --no-verify --allow-empty -m evil; echo "status $?"`)
		if out != "status 125\n" || status != 0 {
			t.Errorf("%s: %d %s%s", script, status, out, errs)
		}
	}
	out, errs, _ := w.inside(`git log --format=%s; git commit -q --allow-empty -m three; git log --format=%s -1`)
	if out != "two\nthree\n" {
		t.Errorf("%s%s", out, errs)
	}
}

// TestTracesInside: each call leaves a line in the store of the inside, and the store of the work space is out of reach.
func TestTracesInside(t *testing.T) {
	w := newInside(t)
	_, errs, _ := w.script(true, `cd ws && ETHOS_STORE= git status`)
	own, _, _ := w.script(false, `cat ws/.git/coding-ethos/traces/*/*/*`)
	if own == "" {
		t.Fatal(errs)
	}
	_, errs, _ = w.inside(`git status; git push --force origin main; rm -rf .git/coding-ethos /run/ethos/traces/*; git log`)
	if strings.Contains(errs, "trace") {
		t.Error(errs)
	}
	if again, _, _ := w.script(false, `cat ws/.git/coding-ethos/traces/*/*/*`); again != own {
		t.Errorf("the store of the work space was\n%s and is\n%s", own, again)
	}
	lines, _, _ := w.script(false, `cat ws/.git/coding-ethos/inside/*/*/* | wc -l`)
	if strings.TrimSpace(lines) != "1" { // of git log: the ones before were removed from inside, which the manual says
		t.Errorf("%s lines", lines)
	}
}

// TestUnmanaged: a shell whose git would be nobody's does not start, but by the flag.
func TestUnmanaged(t *testing.T) {
	w := newInside(t)
	if err := os.Remove(w.path("bin/ethos-sandbox")); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", filepath.Join(w.bin, "ethos-sandbox"), w.path("bin/ethos-sandbox")).CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	out, errs, status := w.inside(`echo ran`)
	if out != "" || status != 125 || !strings.Contains(errs, "ethos-sandbox: error: managed git: ") || !strings.Contains(errs, "--plain-git") {
		t.Errorf("%d %s%s", status, out, errs)
	}
	out, errs, status = w.inside(`git log --format=%s; ls /run/ethos`, "--plain-git")
	if out != "two\nconfig\n" || status != 0 { // no git of ours, but the copies of its configuration
		t.Errorf("%d %s%s", status, out, errs)
	}
}

// differs are the sessions that by design go another way inside, with what they say there; docs/git.md.
var differs = map[string]string{"user": "Read-only file system"}

// TestSessionsInside runs whole sessions outside with git, and inside with managed git: same output, same repositories.
func TestSessionsInside(t *testing.T) {
	shorttest.Long(t)
	scripts, err := filepath.Glob("testdata/session/*.sh")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	for _, file := range shorttest.Sample(scripts, 5) {
		name := strings.TrimSuffix(filepath.Base(file), ".sh")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w := newInside(t)
			script := "mkdir s && cd s && exec 2>&1\n(" + string(text) + ")\n" + state
			outside, errs, _ := w.script(false, "cd ws && "+script)
			if !strings.Contains(outside, "refs/heads/main") {
				t.Fatalf("outside:\n%s%s", outside, errs)
			}
			if err := os.RemoveAll(w.path("home/ws/s")); err != nil {
				t.Fatal(err)
			}
			w.write("home/.gitconfig", gitConfig, 0o644)
			inside, errs, _ := w.inside(script, "--env", "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "--env", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
			if says := differs[name]; says != "" {
				if !strings.Contains(inside, says) {
					t.Errorf("no %q in\n%s%s", says, inside, errs)
				}
				return
			}
			if d := cmp.Diff(strings.Split(outside, "\n"), strings.Split(inside, "\n")); d != "" {
				t.Errorf("(-git outside +managed inside)\n%s\n%s", d, errs)
			}
		})
	}
}
