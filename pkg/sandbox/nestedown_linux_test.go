package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/sandbox/plan"
)

// nestedOwn are the places where ethos keeps what belongs to a work space that lies below another one.
var nestedOwn = []string{
	"sub/.git/coding-ethos", "deep/a/b/.git/coding-ethos", "plain/.coding-ethos", "tree/.coding-ethos", "node_modules/p/.git/coding-ethos", "module/.coding-ethos",
}

// nestedRepositories makes them, and another repository in which ethos keeps nothing yet.
func nestedRepositories(t *testing.T, spec *Spec) {
	t.Helper()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Dir, cmd.Env = spec.Workspace, spec.Environ
		mustRun(t, cmd)
	}
	for _, dir := range []string{"sub", "deep/a/b", "node_modules/p", "fresh"} {
		git("init", "-q", "--template=", dir)
	}
	git("worktree", "add", "-q", "-b", "side", "tree")
	git("-C", "sub", "commit", "-q", "--allow-empty", "-m", "first")
	if err := os.MkdirAll(filepath.Join(spec.Workspace, ".git/modules"), 0o755); err != nil {
		t.Fatal(err)
	}
	git("init", "-q", "--template=", "--separate-git-dir", ".git/modules/module", "module") // git submodule is a package of its own in places
	git("-C", "module", "commit", "-q", "--allow-empty", "-m", "first")
	git("-c", "advice.addEmbeddedRepo=false", "add", "module")
	for _, own := range nestedOwn {
		write(t, filepath.Join(spec.Workspace, own, "cache/x/0/upper/file"), "kept\n")
		write(t, filepath.Join(spec.Workspace, own, "traces/export/otlp-x"), "kept\n")
	}
}

// TestNestedOwn: what ethos keeps for the work spaces below the one of a command is neither read nor written by it, and what it makes in
// their place in a git directory is out of force. A run in the work space below keeps its caches, also where ethos comes to keep them while the command runs.
func TestNestedOwn(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:git")
	twice(t, func(t *testing.T) {
		spec := repository(t, "")
		nestedRepositories(t, &spec)
		home := filepath.Join(filepath.Dir(spec.Workspace), "home")
		write(t, filepath.Join(home, ".npm/old"), "old\n")
		inSub := func(dir, text string) string {
			t.Helper()
			below := spec
			below.Workspace = filepath.Join(spec.Workspace, dir)
			below.Dir, below.Argv = below.Workspace, []string{"sh", "-c", text}
			r := execute(t, below)
			if r.err != nil || r.ExitCode != 0 {
				t.Fatalf("in %s: %v %d\n%s", dir, r.err, r.ExitCode, r.Stderr.Text)
			}
			return r.Stdout.Text
		}
		inSub("sub", "echo added > ~/.npm/sub")
		before := everything(t, below(spec.Workspace, nestedOwn)...)
		spec.Argv = []string{"sh", "-c", `
			for d in ` + strings.Join(nestedOwn, " ") + ` fresh/.git/coding-ethos; do
				cat $d/cache/x/0/upper/file $d/traces/export/otlp-x; find $d -mindepth 1 -type f
				echo planted > $d/traces/export/otlp-x; echo planted > $d/cache/x/0/upper/file; mkdir -p $d/cache/y; mv $d $d.old; rm -rf $d
				find $d/cache $d/cache/*/0/upper -type d -exec sh -c 'echo planted > "$1/sub"' - {} \;
			done > seen 2> /dev/null
			git init -q made && mkdir -p made/.git/coding-ethos/cache && echo made > done`}
		release, done := started(t, spec)
		inSub("fresh", "echo added > ~/.npm/fresh")
		release()
		r := <-done
		if made, err := os.ReadFile(filepath.Join(spec.Workspace, "done")); r.err != nil || err != nil || string(made) != "made\n" {
			t.Errorf("%v %v %q", r.err, err, made)
		}
		if seen, err := os.ReadFile(filepath.Join(spec.Workspace, "seen")); err != nil || len(seen) > 0 {
			t.Errorf("the command sees %q %v", seen, err)
		}
		if after := everything(t, below(spec.Workspace, nestedOwn)...); !slices.Equal(before, after) {
			t.Errorf("before %q\nafter %q", before, after)
		}
		if _, err := os.Lstat(filepath.Join(spec.Workspace, "made/.git/coding-ethos/cache")); err == nil {
			t.Error("what the command made in the place of ethos is in force")
		}
		for dir, want := range map[string]string{"sub": "old\nsub\n", "fresh": "fresh\nold\n"} {
			if got := inSub(dir, "ls ~/.npm"); got != want {
				t.Errorf("a later run in %s meets %q, want %q", dir, got, want)
			}
		}
	})
}

// TestForgedCaches: a cache that a clone brings, that a command of the work space above made, or that is another work space's, is not used.
// What a run itself has added is.
func TestForgedCaches(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	twice(t, func(t *testing.T) {
		spec := script(t, "")
		home := filepath.Join(filepath.Dir(spec.Workspace), "home")
		write(t, filepath.Join(home, ".npm/old"), "old\n")
		boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
		must(t, err)
		for _, dir := range []string{"made", "cloned", "own", "copied"} {
			mkdir(t, filepath.Join(spec.Workspace, dir))
		}
		run := func(dir, text string) string {
			t.Helper()
			one := spec
			one.Workspace = filepath.Join(spec.Workspace, dir)
			one.Dir, one.Argv = one.Workspace, []string{"sh", "-c", text}
			r := execute(t, one)
			if r.err != nil || r.ExitCode != 0 {
				t.Fatalf("in %q: %v %d\n%s", dir, r.err, r.ExitCode, r.Stderr.Text)
			}
			return r.Stdout.Text
		}
		slot := func(dir string) string {
			return plan.CacheDir(filepath.Join(spec.Workspace, dir, ethosDir), plan.SharedCaches, filepath.Join(home, ".npm")) + "/0"
		}
		run("own", "echo added > ~/.npm/own")
		forge := "mkdir -p " + slot("made") + "/upper; cat /proc/sys/kernel/random/boot_id > " + slot("made") + "/boot; echo planted > " + slot("made") + "/upper/planted"
		run("", forge)
		if _, err := os.Lstat(slot("made") + "/upper/planted"); err != nil {
			t.Fatalf("nothing is planted: %v", err)
		}
		write(t, slot("cloned")+"/boot", string(boot))
		write(t, slot("cloned")+"/upper/planted", "planted\n")
		mkdir(t, filepath.Join(spec.Workspace, "copied", ethosDir))
		must(t, os.CopyFS(slot("copied"), os.DirFS(slot("own"))))
		for dir, want := range map[string]string{"made": "old\n", "cloned": "old\n", "copied": "old\n", "own": "old\nown\n"} {
			if got := run(dir, "ls ~/.npm"); got != want {
				t.Errorf("a run in %s meets %q, want %q", dir, got, want)
			}
		}
	})
}

func below(dir string, names []string) (list []string) {
	for _, name := range names {
		list = append(list, filepath.Join(dir, name))
	}
	return list
}
