package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
)

// configOf is what git outside reads as configuration in a repository.
func configOf(t *testing.T, spec Spec) string {
	t.Helper()
	cmd := exec.Command("git", "config", "--list")
	cmd.Dir, cmd.Env = spec.Workspace, spec.Environ
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestGitSettings: what git's own commands set inside, of what runs nothing, is set outside when the run has ended, and they see it at once.
func TestGitSettings(t *testing.T) {
	probetest.Need(t, "command:git-receive-pack")
	twice(t, func(t *testing.T) {
		spec := repository(t, `set -e; git init -q --bare up.git; git init -q lib; git -C lib -c user.name=a -c user.email=a commit -q --allow-empty -m x
			git push -q -u origin main; test "$(git rev-parse --abbrev-ref main@{upstream})" = origin/main; git remote add up ./up.git; git push -q up main
			git branch topic; git branch -q --set-upstream-to origin/main topic; git branch -m topic renamed; git branch old main; git branch -q -u origin/main old; git branch -q -D old
			git branch side; git branch -q -u up/main side; git push -q up side
			git -c protocol.file.allow=always submodule --quiet add "$PWD/lib" mod; git sparse-checkout set a; test "$(git sparse-checkout list)" = a
			git config user.name X; git config core.fsmonitor ./evil; test "$(git config user.name)" = X`)
		config := filepath.Join(spec.Workspace, ".git/config")
		if out, err := exec.Command("git", "-C", spec.Workspace, "remote", "add", "origin", "./up.git").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if err := os.Chmod(config, 0o600); err != nil {
			t.Fatal(err)
		}
		r := execute(t, spec)
		if r.err != nil || r.ExitCode != 0 {
			t.Fatalf("%v %d\n%s", r.err, r.ExitCode, r.Stderr.Text)
		}
		got := configOf(t, spec)
		for _, line := range []string{"remote.up.url=./up.git", "branch.main.remote=origin", "branch.renamed.merge=refs/heads/main", "submodule.mod.active=true", "extensions.worktreeconfig=true", "core.sparsecheckout=true", "user.name=X"} {
			if !strings.Contains(got, line+"\n") {
				t.Errorf("no %s in\n%s", line, got)
			}
		}
		if strings.Contains(got, "fsmonitor") || strings.Contains(got, "branch.old") || strings.Contains(got, "branch.topic.") || strings.Contains(got, "branch.side.") {
			t.Error(got)
		}
		if d := r.Evidence.Denials; len(d) != 2 || !strings.Contains(d[0].What+d[1].What, "core.fsmonitor") || !strings.Contains(d[0].Remedy, "git config -f "+config) || strings.Contains(d[0].Remedy+d[1].Remedy, "evil") ||
			!strings.Contains(d[0].What+d[1].What, "branch.side.remote = up") {
			t.Errorf("%+v", d)
		}
		if taken := r.Evidence.GitSettings; len(taken) != 2 || taken[0].Path != config || len(taken[0].Keys) < 8 {
			t.Errorf("%+v", taken)
		}
		if info, err := os.Stat(config); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info, err)
		}
		if _, err := os.Lstat(config + ".lock"); err == nil {
			t.Error("the lock is left")
		}
		spec.Argv[2] = "git sparse-checkout disable; git remote get-url up"
		if r := execute(t, spec); r.ExitCode != 0 || r.Stdout.Text != "./up.git\n" || len(r.Evidence.Denials) != 0 || !strings.Contains(configOf(t, spec), "core.sparsecheckout=false\n") {
			t.Errorf("the next run: %d %q %+v\n%s", r.ExitCode, r.Stdout.Text, r.Evidence.Denials, configOf(t, spec))
		}
	})
}

// TestGitSettingsBesideARun: no run ends another by what it sets, and none loses what the other has set.
func TestGitSettingsBesideARun(t *testing.T) {
	twice(t, func(t *testing.T) {
		spec := repository(t, "git remote add first ./first; git branch --unset-upstream main 2>/dev/null; true")
		first, firstDone := started(t, spec)
		spec.Argv = []string{"sh", "-c", "git remote add second ./second"}
		second, secondDone := started(t, spec)
		for _, run := range []struct {
			release func()
			done    chan result
		}{{first, firstDone}, {second, secondDone}} {
			run.release()
			if r := <-run.done; r.err != nil || r.Status != record.StatusExited || len(r.Evidence.Denials) != 0 {
				t.Errorf("%v %s %+v", r.err, r.Status, r.Evidence.Denials)
			}
		}
		if got := configOf(t, spec); !strings.Contains(got, "remote.first.url=./first\n") || !strings.Contains(got, "remote.second.url=./second\n") {
			t.Error(got)
		}
	})
}

// TestGitSettingsNotTaken: where somebody outside writes, or the copy is none any more, nothing is taken over, and it is told.
func TestGitSettingsNotTaken(t *testing.T) {
	twice(t, func(t *testing.T) {
		for name, c := range map[string]struct{ script, says string }{
			"locked":   {"git remote add up ./up; : > .git/config.lock", "a process writes"},
			"a link":   {"c=$(readlink .git/config); rm $c; ln -s /etc/passwd $c", "not copied to your configuration"},
			"a fifo":   {"c=$(readlink .git/config); rm $c; mkfifo $c", "not copied to your configuration"},
			"too much": {"head -c 2000000 /dev/zero | tr '\\0' '\\n' >> .git/config", "not copied to your configuration"},
			"garbage":  {"echo '[core' >> .git/config", "cannot be read"},
		} {
			t.Run(name, func(t *testing.T) {
				spec := repository(t, c.script)
				before := configOf(t, spec)
				r := execute(t, spec)
				if r.err != nil || r.Status != record.StatusExited || len(r.Evidence.Denials) == 0 || !strings.Contains(r.Evidence.Denials[0].Reason, c.says) {
					t.Errorf("%v %s %+v", r.err, r.Status, r.Evidence.Denials)
				}
				os.Remove(filepath.Join(spec.Workspace, ".git/config.lock"))
				if after := configOf(t, spec); after != before {
					t.Error(after)
				}
			})
		}
	})
}

// TestGitSettingsInSession: what a command of a session sets is set outside when it has ended, the next one sees it and can take it back, and the session goes on.
func TestGitSettingsInSession(t *testing.T) {
	twice(t, func(t *testing.T) {
		var spec Spec
		s, p := session(t, func(asked *Spec) {
			cmd := exec.Command("git", "init", "-q", "-b", "main")
			cmd.Dir, cmd.Env = asked.Dir, asked.Environ
			mustRun(t, cmd)
			spec = *asked
		})
		for _, c := range []struct{ script, out, has, not, told string }{
			{"git remote add up ./up; git sparse-checkout set a 2>&1; git config core.pager ./evil", "", "remote.up.url=./up\n", "pager", "core.pager"},
			{"git remote get-url up; git config core.pager", "./up\n./evil\n", "core.sparsecheckout=true\n", "pager", ""},
			{"git remote remove up; git remote add next ./next", "", "remote.next.url=./next\n", "remote.up", ""},
		} {
			_, out, err := say(t, s, p, c.script)
			denials := s.Look(t.Context())
			if got := configOf(t, spec); err != nil || out != c.out || !strings.Contains(got, c.has) || strings.Contains(got, c.not) {
				t.Errorf("%s: %v %q\n%s", c.script, err, out, got)
			}
			if (c.told != "") != (len(denials) == 1) || c.told != "" && !strings.Contains(denials[0].What, c.told) {
				t.Errorf("%s: %+v", c.script, denials)
			}
		}
	})
}

// TestGitSettingsNarrowed: a command that may not write in the work space sets nothing there by way of the copy.
func TestGitSettingsNarrowed(t *testing.T) {
	needTruncation(t)
	twice(t, func(t *testing.T) {
		var spec Spec
		s, p := session(t, func(asked *Spec) {
			cmd := exec.Command("git", "init", "-q", "-b", "main")
			cmd.Dir, cmd.Env = asked.Dir, asked.Environ
			mustRun(t, cmd)
			spec = *asked
		})
		before := configOf(t, spec)
		c, err := s.Spawn(t.Context(), Command{Argv: []string{"git", "remote", "add", "narrowed", "./x"}, Env: p.Env, Dir: p.Dir, Umask: 0o22, Narrow: Narrow{DenyWrite: []string{"/tmp"}}}) // with the work space in it
		if err != nil {
			t.Fatal(err)
		}
		status, err := c.Wait()
		if s.Look(t.Context()); err != nil || status.ExitStatus() == 0 || configOf(t, spec) != before {
			t.Errorf("narrowed: %v %v\n%s", status, err, configOf(t, spec))
		}
	})
}
