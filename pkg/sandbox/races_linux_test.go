package sandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
)

// raceStarts, set in the environment, is how many sandboxes are started while the work space is swapped, instead of a few.
const raceStarts = "ETHOS_TEST_RACE_STARTS"

func starts(t *testing.T, few int) int {
	t.Helper()
	text := os.Getenv(raceStarts)
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// swapper, set in the environment, makes this process the hostile one: the names that it swaps, one a line.
const swapper = "ETHOS_TEST_SWAPPER"

// swap exchanges each name with the one beside it, for ever: a directory and a link to somewhere else take turns, now for a moment and now for longer than a start takes.
func swap(names []string) {
	for {
		for _, name := range names {
			unix.Renameat2(unix.AT_FDCWD, name, unix.AT_FDCWD, name+".x", unix.RENAME_EXCHANGE)
			time.Sleep(time.Duration(1<<rand.IntN(15)) * time.Microsecond)
		}
	}
}

// swapped is a way to be hostile.
type swapped struct {
	name  string
	names []string // below the directory that the work space is in
	quiet bool     // the plan is made before the swapping begins: the work space itself is swapped, and a plan is of the one that it was made for
	spec  func(*Spec)
}

var swaps = []swapped{
	{name: "git", names: []string{"w/.git"}},
	{name: "hooks", names: []string{"w/.git/hooks", "w/.git/info"}},
	{name: "settings", names: []string{"w/.claude", "w/.codex"}},
	{name: "working directory", names: []string{"w/sub"}, spec: func(s *Spec) { s.Dir += "/sub" }},
	{name: "declared", names: []string{"w/sub", "w/sub/deep"}, spec: func(s *Spec) {
		s.WritePaths = []string{"sub/deep"}
		s.ReadPaths = []string{"sub"}
		s.DenyReadPaths = []string{"sub/hidden"}
	}},
	{name: "denied", names: []string{"w/sub", "w/hidden"}, spec: func(s *Spec) { s.DenyReadPaths = []string{"hidden"}; s.DenyWritePaths = []string{"sub"} }},
	{name: "own directory", names: []string{"w/.coding-ethos"}},
	{name: "own cache", names: []string{"w/.coding-ethos/cache"}, spec: func(s *Spec) { s.CachePaths = []string{"~/cache"} }},
	{name: "work space", names: []string{"w"}, quiet: true},
	{name: "above the work space", names: []string{"w", "w/.git", "w/sub"}, quiet: true, spec: func(s *Spec) { s.Dir += "/sub"; s.CachePaths = []string{"~/cache"} }},
}

// greedy reads and writes by every name that is swapped.
const greedy = `for d in . sub sub/deep hidden .git .git/hooks .git/info .claude .codex .coding-ethos .coding-ethos/cache "$PWD"; do
	cat $d/secret $d/*/secret
	for f in evil config.worktree commondir attributes settings.json pre-commit; do echo evil > $d/$f; echo evil >> $d/$f; done
	mkdir $d/evil.d; rmdir $d/hooks $d/traces; rm -f $d/secret
done 2>/dev/null
exit 0`

// TestSwaps: whatever happens to the names in the work space while a sandbox starts, nothing outside is mounted, read or written. A start may be refused.
func TestSwaps(t *testing.T) {
	if names := os.Getenv(swapper); names != "" {
		swap(strings.Split(names, "\n"))
	}
	twice(t, func(t *testing.T) {
		probetest.Need(t, "command:git")
		n := max(1, starts(t, 60)/len(swaps))
		started, refused := 0, 0
		for _, s := range swaps {
			t.Run(s.name, func(t *testing.T) {
				a, b := raceOnce(t, s, n)
				started, refused = started+a, refused+b
			})
		}
		t.Logf("%d started, %d refused", started, refused)
		if started == 0 {
			t.Error("none started")
		}
	})
}

// raceOnce starts n sandboxes beside one hostile process.
func raceOnce(t *testing.T, s swapped, n int) (started, refused int) {
	spec := repository(t, greedy)
	base := filepath.Dir(spec.Workspace)
	secret := plant(t, base, s.names)
	if s.spec != nil {
		s.spec(&spec)
	}
	before := snapshot(t, filepath.Join(base, "out"))
	var plan *Plan
	if s.quiet {
		plan = mustBuild(t, spec)
	}
	stop := hostile(t, base, s.names)
	for range n {
		r := result{}
		var err error
		if p := plan; p != nil {
			r.Outcome, r.Capture, err = RunCaptured(context.Background(), p, nil)
		} else if p, err = Build(spec, HostFiles{}, os.Geteuid()); err == nil {
			r.Outcome, r.Capture, err = RunCaptured(context.Background(), p, nil)
		}
		var refusal *Refusal
		switch {
		case err == nil:
			started++
		case errors.As(err, &refusal):
			refused++
		default:
			t.Errorf("neither started nor refused: %v", err)
		}
		if strings.Contains(r.Stdout.Text+r.Stderr.Text, secret) {
			t.Errorf("it read outside:\n%s%s", r.Stdout.Text, r.Stderr.Text)
		}
	}
	stop()
	if diff := cmp.Diff(before, snapshot(t, filepath.Join(base, "out"))); diff != "" {
		t.Errorf("outside (-before +after):\n%s", diff)
	}
	return started, refused
}

// unlock makes a tree one that can be removed: overlays leave directories that not even their owner may list.
func unlock(base string) {
	filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			os.Chmod(path, 0o700)
		}
		return nil
	})
}

// plant makes the directories that are swapped, each with a link to the directory outside beside it. What is outside looks like what is inside.
func plant(t *testing.T, base string, names []string) (secret string) {
	t.Helper()
	t.Cleanup(func() { unlock(base) })
	secret = fmt.Sprintf("secret-%x", sha256.Sum256([]byte(base)))
	out := filepath.Join(base, "out")
	for _, dir := range []string{"", "/hooks", "/info", "/traces", "/cache", "/deep", "/.git/hooks", "/.claude", "/cache/0/work/work", "/.coding-ethos/cache", "/.coding-ethos/traces"} {
		write(t, out+dir+"/kept", "kept\n")
		write(t, out+dir+"/secret", secret+"\n")
		for _, empty := range []string{"config.worktree", "attributes", "settings.json", "coding_ethos.yml"} {
			write(t, out+dir+"/"+empty, "")
		}
		write(t, out+dir+"/commondir", ".\n")
		if err := errors.Join(os.MkdirAll(out+dir+"/.codex", 0o755), os.MkdirAll(out+dir+"/empty", 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"w/sub/deep", "w/hidden", "home/cache", "w/.coding-ethos/cache"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		path := filepath.Join(base, name)
		if err := errors.Join(os.MkdirAll(path, 0o755), os.Symlink(out, path+".x")); err != nil {
			t.Fatal(err)
		}
	}
	return secret
}

// hostile starts the process that swaps; stop ends it.
func hostile(t *testing.T, base string, names []string) (stop func()) {
	t.Helper()
	var paths []string
	for _, name := range names {
		paths = append(paths, filepath.Join(base, name))
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestSwaps$")
	cmd.Env = append(os.Environ(), swapper+"="+strings.Join(paths, "\n"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := sync.OnceFunc(func() { cmd.Process.Kill(); cmd.Wait() })
	t.Cleanup(ended)
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		if info, err := os.Lstat(paths[0]); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return ended
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing is swapped")
		}
	}
}

// snapshot lists a tree: names, kinds, modes, contents.
func snapshot(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%v %s", info.Mode(), path)
		if d.Type().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %q", text)
		}
		list = append(list, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestParallelStarts: many starts at once in one work space all succeed, or are refused, and leave nothing behind.
func TestParallelStarts(t *testing.T) {
	twice(t, func(t *testing.T) {
		spec := repository(t, "echo x > .claude/x; echo up; exit 7")
		spec.Argv[2] = "! echo x > .claude/settings.json 2>/dev/null && echo up && exit 7"
		before := tree(t, spec.Workspace)
		table := readFile(t, "/proc/self/mountinfo")
		n := starts(t, 16)
		n = min(n, 64)
		results := make([]result, n)
		var all sync.WaitGroup
		for i := range results {
			all.Go(func() {
				plan, err := Build(spec, HostFiles{}, os.Geteuid())
				if err != nil {
					results[i].err = err
					return
				}
				r := &results[i]
				r.Outcome, r.Capture, r.err = RunCaptured(context.Background(), plan, nil)
			})
		}
		all.Wait()
		started := 0
		for _, r := range results {
			var refusal *Refusal
			switch {
			case r.err == nil && r.ExitCode == 7 && r.Stdout.Text == "up\n":
				started++
			case errors.As(r.err, &refusal) && refusal.Hint != "" && r.Stdout.Text == "":
				t.Logf("refused: %v", r.err)
			default:
				t.Errorf("%v: %s %d %q %q %s", r.err, r.Status, r.ExitCode, r.Stdout.Text, r.Stderr.Text, r.Evidence.Reason)
			}
		}
		t.Logf("%d of %d started", started, n)
		if started < n/2 {
			t.Errorf("%d of %d started", started, n)
		}
		after := slices.DeleteFunc(tree(t, spec.Workspace), func(n string) bool { return n == ethosDir })
		if !slices.Equal(before, after) {
			t.Errorf("before %v, after %v", before, after)
		}
		if left := inside(t, spec.Workspace); len(left) > 0 {
			t.Errorf("processes %v are left", left)
		}
		if now := readFile(t, "/proc/self/mountinfo"); now != table {
			t.Errorf("mounts before:\n%s\nafter:\n%s", table, now)
		}
	})
}
