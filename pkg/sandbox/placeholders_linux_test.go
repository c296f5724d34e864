package sandbox

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/control"
)

// repository makes a git repository with one commit as the work space of a script.
func repository(t *testing.T, text string) Spec {
	t.Helper()
	probetest.Need(t, "command:git")
	spec := script(t, text)
	probetest.Removable(t, spec.Workspace)
	for _, args := range [][]string{{"init", "-q", "--template=", "-b", "main"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first"}} {
		git := exec.Command("git", args...)
		git.Dir, git.Env = spec.Workspace, spec.Environ
		mustRun(t, git)
	}
	return spec
}

// tree lists a work space and its git directory, but for what ethos keeps there.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	own := func(name string) bool { return name == filepath.Base(ownInGit) }
	return append(names(t, dir), slices.DeleteFunc(names(t, filepath.Join(dir, ".git")), own)...)
}

// TestPlaceholders: what is protected cannot come to exist, cannot be moved aside, and nothing is left of the means.
func TestPlaceholders(t *testing.T) {
	twice(t, func(t *testing.T) {
		copies := []string{"config", "config.worktree", "chmod", "truncate"} // they succeed, and change nothing outside
		for name, attack := range map[string]string{
			"move git away":     "mv .git b",
			"hooks":             "mkdir -p .git/hooks; echo x > .git/hooks/pre-commit",
			"config":            "git config core.fsmonitor ./x",
			"config by rename":  "echo '[core]' > .git/c; mv .git/c .git/config",
			"config.worktree":   "echo x > .git/config.worktree",
			"attributes":        "mkdir -p .git/info; echo x > .git/info/attributes",
			"commondir":         "echo /tmp > .git/commondir",
			"commondir removed": "rm .git/commondir; echo /tmp > .git/commondir",
			"commondir moved":   "echo /tmp > .git/c; mv .git/c .git/commondir",
			"own directory":     "echo x > .coding-ethos/traces",
			"chmod":             "chmod 777 .git/config",
			"truncate":          ": > .git/config",
			"hard link":         "ln .git/config a",
		} {
			t.Run(name, func(t *testing.T) {
				spec := repository(t, attack)
				before, config := tree(t, spec.Workspace), readFile(t, filepath.Join(spec.Workspace, ".git/config"))
				r := execute(t, spec)
				if r.err != nil || r.Status != record.StatusExited || (r.ExitCode == 0) != slices.Contains(copies, name) {
					t.Errorf("%v: %s %d\n%s", r.err, r.Status, r.ExitCode, r.Stderr.Text)
				}
				after := slices.DeleteFunc(tree(t, spec.Workspace), func(n string) bool { return n == ethosDir || n == "a" || n == "c" || n == "info" })
				if !slices.Equal(before, after) || readFile(t, filepath.Join(spec.Workspace, ".git/config")) != config {
					t.Errorf("before %v, after %v", before, after)
				}
			})
		}
		twin := repository(t, `set -e; mkdir claude; echo x > mcp.json; mv mcp.json m; echo y > f; git add f; git -c user.name=a -c user.email=a@b commit -qm second
			git branch other; git checkout -q other; git rm -q f; git stash list; git gc -q; git status --porcelain`)
		r := execute(t, twin)
		if r.err != nil || r.ExitCode != 0 || r.Stdout.Text != "D  f\n?? m\n" {
			t.Errorf("the allowed twin: %v %d\n%s%s", r.err, r.ExitCode, r.Stdout.Text, r.Stderr.Text)
		}
	})
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// started runs a script that says "up" and waits for a line of its standard input.
func started(t *testing.T, spec Spec) (release func(), done chan result) {
	t.Helper()
	spec.Argv = []string{"sh", "-c", "echo up; read x; " + spec.Argv[2]}
	spec.CloseStdin = false
	plan := mustBuild(t, spec)
	in, feed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, said, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	done = make(chan result, 1)
	go func() {
		o, err := Run(context.Background(), plan, IO{Stdin: in, Stdout: said})
		said.Close()
		in.Close()
		done <- result{Outcome: o, err: err}
	}()
	line := make(chan error, 1)
	go func() {
		_, err := bufio.NewReader(out).ReadString('\n')
		line <- err
	}()
	select {
	case err := <-line:
		if err != nil {
			t.Fatalf("it did not start: %v", (<-done).err)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("it did not start")
	}
	return func() { feed.Close(); out.Close() }, done
}

// TestPlaceholdersShared: two runs in one work space never uncover each other, whichever ends first.
func TestPlaceholdersShared(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	spec := repository(t, "echo x > .git/commondir; echo $? > code")
	before := tree(t, spec.Workspace)
	first, firstDone := started(t, spec)
	second, secondDone := started(t, spec)
	first()
	if r := <-firstDone; r.err != nil {
		t.Fatal(r.err)
	}
	if _, err := os.Lstat(filepath.Join(spec.Workspace, ".git/commondir")); err != nil {
		t.Errorf("the first run took the placeholder of the second away: %v", err)
	}
	second()
	if r := <-secondDone; r.err != nil {
		t.Fatal(r.err)
	}
	after := slices.DeleteFunc(tree(t, spec.Workspace), func(n string) bool { return n == ethosDir || n == "code" })
	if !slices.Equal(before, after) {
		t.Errorf("before %v, after %v", before, after)
	}
}

// TestPlaceholdersBesideStore: a store that is made in a writable directory while a command runs there neither ends the run nor comes to harm.
func TestPlaceholdersBesideStore(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	spec := repository(t, "ls ../other/.coding-ethos; ! echo x > ../other/.coding-ethos/x && ! echo x > .git/coding-ethos/x && ! echo x > .git/coding-ethos/traces/2026/day")
	other := filepath.Join(filepath.Dir(spec.Workspace), "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	spec.WritePaths, spec.KeepsStore = []string{other}, true
	release, done := started(t, spec)
	var stores []string
	for _, dir := range []string{filepath.Join(spec.Workspace, ownInGit), filepath.Join(other, ethosDir)} {
		stores = append(stores, filepath.Join(dir, "traces/2026/day"))
		write(t, stores[len(stores)-1], "evidence\n")
	}
	release()
	if r := <-done; r.err != nil || r.Status != record.StatusExited || r.ExitCode != 0 {
		t.Errorf("%v: %s %d", r.err, r.Status, r.ExitCode)
	}
	for _, store := range stores {
		if got := readFile(t, store); got != "evidence\n" {
			t.Errorf("%s: %q", store, got)
		}
	}
}

// TestPlaceholdersStale: what a killed run left behind goes with the next.
func TestPlaceholdersStale(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	spec := repository(t, "true")
	before := tree(t, spec.Workspace)
	if r := execute(t, spec); r.err != nil {
		t.Fatal(r.err)
	}
	stale := filepath.Join(spec.Workspace, ".claude")
	kept := filepath.Join(spec.Workspace, ".codex")
	write(t, filepath.Join(kept, "mine"), "the user's\n")
	if err := os.Mkdir(stale, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(spec.Workspace, ownInGit, journalName), `"`+stale+`"`+"\n\""+kept+"\"\nnot json\n")
	if r := execute(t, spec); r.err != nil {
		t.Fatal(r.err)
	}
	after := slices.DeleteFunc(tree(t, spec.Workspace), func(n string) bool { return n == ethosDir || n == ".codex" })
	if !slices.Equal(before, after) || readFile(t, filepath.Join(kept, "mine")) == "" {
		t.Errorf("before %v, after %v", before, after)
	}
}

// TestPlaceholdersLeaveTheOwners: what stands in the place of a placeholder, looks like one, and is the person's stays.
func TestPlaceholdersLeaveTheOwners(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	spec := repository(t, "true")
	hooks, attributes := filepath.Join(spec.Workspace, ".git/hooks"), filepath.Join(spec.Workspace, ".git/info/attributes")
	write(t, attributes, "")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		t.Fatal(err)
	}
	before := tree(t, spec.Workspace)
	if r := execute(t, spec); r.err != nil {
		t.Fatal(r.err)
	}
	if after := tree(t, spec.Workspace); !slices.Equal(before, after) || readFile(t, attributes) != "" {
		t.Errorf("before %v, after %v", before, after)
	}
}

// TestBoundaryChanged: what is replaced on the host is uncovered inside; the run ends, and the evidence says why.
func TestBoundaryChanged(t *testing.T) {
	twice(t, func(t *testing.T) {
		for name, change := range map[string]func(dir string) error{
			"replaced": func(dir string) error {
				return os.Rename(filepath.Join(dir, ".git/HEAD"), filepath.Join(dir, ".git/config"))
			},
			"removed": func(dir string) error { return os.Remove(filepath.Join(dir, ".git/commondir")) },
			"moved within": func(dir string) error {
				return os.Rename(filepath.Join(dir, ".git/hooks"), filepath.Join(dir, ".git/h"))
			},
			"moved": func(dir string) error { return os.Rename(filepath.Join(dir, ".git/hooks"), dir+"-hooks") },
			"moved deeper": func(dir string) error {
				return os.Rename(filepath.Join(dir, ".git/info/attributes"), filepath.Join(dir, ".git/info/a"))
			},
			"git moved": func(dir string) error { return os.Rename(filepath.Join(dir, ".git"), filepath.Join(dir, "g")) },
		} {
			t.Run(name, func(t *testing.T) {
				spec := repository(t, "true")
				spec.Argv[2] = "sleep 1000"
				release, done := started(t, spec)
				defer release()
				if err := change(spec.Workspace); err != nil {
					t.Fatal(err)
				}
				release()
				var r result
				select {
				case r = <-done:
				case <-time.After(2 * time.Minute):
					t.Fatal("the run goes on")
				}
				if r.err != nil || r.Status != record.StatusSignaled || !strings.Contains(r.Evidence.Reason, "boundary changed") || len(r.Evidence.Denials) == 0 {
					t.Errorf("%v %s %q", r.err, r.Status, r.Evidence.Reason)
				}
				for _, c := range r.Evidence.Controls {
					if c.Name == "mount" && c.State != control.Degraded {
						t.Errorf("mount is %s", c.State)
					}
				}
			})
		}
	})
}

// TestProtectedLink: a protected name that is a symbolic link can neither be replaced nor written through.
func TestProtectedLink(t *testing.T) {
	twice(t, func(t *testing.T) {
		spec := repository(t, "echo x > real/settings.json || rm .claude || mv .claude b || ln -sfn /tmp .claude")
		write(t, filepath.Join(spec.Workspace, "real/settings.json"), "{}")
		if err := os.Symlink("real", filepath.Join(spec.Workspace, ".claude")); err != nil {
			t.Fatal(err)
		}
		r := execute(t, spec)
		if r.err != nil || r.ExitCode == 0 {
			t.Errorf("%v %d\n%s", r.err, r.ExitCode, r.Stderr.Text)
		}
		if to, err := os.Readlink(filepath.Join(spec.Workspace, ".claude")); err != nil || to != "real" {
			t.Errorf("the link leads to %q, %v", to, err)
		}
	})
}

// TestKilled: SIGKILL of the process that runs it, at any moment, leaves no process, no mount, and no file but at most
// the directory of ethos that was not done yet, which the next run removes.
func TestKilled(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	if os.Getenv("ETHOS_TEST_VICTIM") != "" {
		victim()
		return
	}
	killedAtAnyMoment(t, repository(t, ""))
}

// killedAtAnyMoment has the process killed in which [victim] runs, in the work space of a spec.
func killedAtAnyMoment(t *testing.T, spec Spec) {
	t.Helper()
	before := tree(t, spec.Workspace)
	defer func() {
		spec.Argv = []string{"true"}
		r := execute(t, spec)
		if left := tree(t, spec.Workspace); r.err != nil || r.ExitCode != 0 || len(r.Evidence.Denials) != 0 || !slices.Equal(left, before) {
			t.Errorf("after the next run: %v %d %v: files %v, was %v", r.err, r.ExitCode, r.Evidence.Denials, left, before)
		}
	}()
	for _, after := range []time.Duration{2, 5, 8, 10, 12, 14, 16, 20, 40, 80} {
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestKilled$")
		cmd.Env = append(spec.Environ, "ETHOS_TEST_VICTIM="+spec.Workspace)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait()
		for wait := 0; ; wait++ {
			left := tree(t, spec.Workspace)
			if slices.Equal(left, before) && len(inside(t, spec.Workspace)) == 0 {
				break
			}
			if wait == 6000 {
				t.Fatalf("killed after %v ms: files %v, was %v; processes %v", int(after), left, before, inside(t, spec.Workspace))
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// victim is the process that is killed.
func victim() { victimOf("sleep 1000 & setsid sleep 1000 & sleep 1000") }

func victimOf(script string) {
	dir := os.Getenv("ETHOS_TEST_VICTIM")
	plan, err := Build(Spec{Asked: capability.OnProfile(""), Argv: []string{"sh", "-c", script}, Dir: dir, Workspace: dir, Environ: os.Environ()}, HostFiles{}, os.Geteuid())
	if err == nil {
		_, err = Run(context.Background(), plan, IO{})
	}
	if err != nil {
		panic(err)
	}
}

// inside lists processes whose mount table has the work space in it, apart from those of this namespace.
func inside(t *testing.T, workspace string) []string {
	t.Helper()
	own, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, name := range names(t, "/proc") {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		ns, err := os.Readlink("/proc/" + name + "/ns/mnt")
		if err != nil || ns == own {
			continue
		}
		if text, err := os.ReadFile("/proc/" + name + "/mountinfo"); err == nil && strings.Contains(string(text), workspace) {
			list = append(list, name)
		}
	}
	return list
}
