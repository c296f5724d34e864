package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/protected"
	"ethos/pkg/record"
)

// singleNames are the protected paths of one name.
func singleNames() []string {
	return slices.DeleteFunc(protected.Paths(), func(path string) bool { return strings.Contains(path, "/") })
}

// theNames sets $names in a script to the protected names.
func theNames(script string) string {
	return "names='" + strings.Join(singleNames(), " ") + "'\n" + script
}

// outOfForce fails when something is there under a protected name, or when
// evidence and host do not agree on what was put aside.
func outOfForce(t *testing.T, dir string, e record.Sandbox, want ...string) {
	t.Helper()
	for _, n := range protected.Names() {
		if _, err := os.Lstat(filepath.Join(dir, n.Path)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is in force: %v", n.Path, err)
		}
	}
	for _, name := range want {
		path := filepath.Join(dir, name)
		i := slices.IndexFunc(e.Denials, func(d record.Denial) bool { return d.Path == path && d.Layer == ControlNames })
		if i < 0 {
			t.Errorf("%s is not in the evidence: %+v", name, e.Denials)
			continue
		}
		if _, err := os.Lstat(e.Denials[i].Kept); err != nil || e.Denials[i].Remedy == "" {
			t.Errorf("%s: it is not kept: %v, %+v", name, err, e.Denials[i])
		}
	}
}

// waiting is a script that waits until what it made is out of force. A run in
// which nothing puts it aside is ended at a limit of time.
func waiting(t *testing.T, text string) Spec {
	t.Helper()
	spec := script(t, text)
	spec.Timeout = 2 * time.Minute // for a machine under emulation
	return spec
}

// byName are attacks that make each of $names. Those of the first group wait
// inside until what they made is out of force.
func byName() map[string]string {
	const gone = `; while [ -e "$n" ] || [ -L "$n" ]; do :; done`
	return map[string]string{
		"file":            `for n in $names; do echo x > "$n"` + gone + `; done`,
		"directory":       `for n in $names; do mkdir -p "$n/sub"` + gone + `; done`,
		"symbolic link":   `mkdir d; for n in $names; do ln -s d "$n"` + gone + `; done`,
		"dangling link":   `for n in $names; do ln -s nowhere "$n"` + gone + `; done`,
		"hard link":       `echo x > a; for n in $names; do ln a "$n"` + gone + `; done`,
		"renamed there":   `for n in $names; do echo x > a; mv -T a "$n"` + gone + `; done`,
		"directory moved": `for n in $names; do mkdir a; mv -T a "$n"` + gone + `; done`,
		"FIFO":            `for n in $names; do mkfifo "$n"` + gone + `; done`,
		"by /proc":        `for n in $names; do echo x > "/proc/self/cwd/$n"` + gone + `; done`,
		"from below":      `mkdir -p s/t; cd s/t; for n in $names; do echo x > "../../$n"; n="../../$n"` + gone + `; done`,
		"mode 000":        `for n in $names; do mkdir "$n"; chmod 000 "$n"` + gone + `; done`,

		"at the very end":     `for n in $names; do mkdir "$n"; done; kill -9 $$`,
		"by a process beside": `(while :; do for n in $names; do mkdir "$n" 2>/dev/null; done; done) & sleep 0.05`,
		"16 processes":        `for p in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do (for n in $names; do echo x > "$n"; done) & done; wait`,
		"without permission":  `for n in $names; do mkdir "$n"; done; chmod 555 .`,
		"not to be searched":  `for n in $names; do mkdir "$n"; done; chmod 000 .`,
	}
}

// TestProtectedNamesAreOutOfForce: whatever the command makes under a protected
// name, and however, nothing of it is in force when the run has ended, and what
// has a name beside it stays.
func TestProtectedNamesAreOutOfForce(t *testing.T) {
	twice(t, func(t *testing.T) {
		for name, attack := range byName() {
			t.Run(name, func(t *testing.T) {
				spec := waiting(t, theNames(`for n in $names; do : > "x$n"; done; `+attack))
				r := execute(t, spec)
				os.Chmod(spec.Workspace, 0o755)
				if r.err != nil || r.Status == record.StatusTimeout {
					t.Fatalf("%v %s", r.err, r.Status)
				}
				var want []string
				if r.Status == record.StatusExited && name != "by a process beside" {
					want = singleNames()
				}
				outOfForce(t, spec.Workspace, r.Evidence, want...)
				for _, n := range singleNames() {
					if _, err := os.Lstat(filepath.Join(spec.Workspace, "x"+n)); err != nil {
						t.Errorf("the neighbour: %v", err)
					}
				}
			})
		}
	})
}

// TestNamesOfSeveralComponents: a directory that counts in another is put aside
// there, or with the link that leads to it.
func TestNamesOfSeveralComponents(t *testing.T) {
	twice(t, func(t *testing.T) {
		for name, attack := range map[string]string{
			"new":              `mkdir -p .github/hooks .github/workflows; echo x > .github/hooks/a.json`,
			"in what is there": `mkdir .github/hooks; i=0; while [ -e .github/hooks ] && [ $((i += 1)) -lt 1000000 ]; do :; done; echo x > .github/workflows`,
			"moved there":      `mkdir -p g/hooks g/workflows; mv g .github`,
			"by a link":        `mkdir -p g/hooks; ln -s g .github; mkdir g/workflows`,
			"closed":           `mkdir -p .github/hooks .github/workflows; chmod 000 .github`,
		} {
			t.Run(name, func(t *testing.T) {
				spec := waiting(t, attack)
				if name == "in what is there" {
					if err := os.Mkdir(filepath.Join(spec.Workspace, ".github"), 0o755); err != nil {
						t.Fatal(err)
					}
				}
				r := execute(t, spec)
				if r.err != nil || r.Status != record.StatusExited {
					t.Fatalf("%v %s %s", r.err, r.Status, r.Stderr.Text)
				}
				os.Chmod(filepath.Join(spec.Workspace, ".github"), 0o755)
				outOfForce(t, spec.Workspace, r.Evidence, ".github/hooks")
				if _, err := os.Stat(filepath.Join(spec.Workspace, ".github/workflows")); err != nil {
					t.Errorf("the neighbour: %v", err)
				}
			})
		}
	})
}

// TestPutAsideLeadsNowhere: what is put aside while the command has it open is
// still in the directory that it was in: ".." leads to nothing that is hidden.
func TestPutAsideLeadsNowhere(t *testing.T) {
	twice(t, func(t *testing.T) {
		spec := waiting(t, `stat -c %d:%i . > a; ls -A .. > b; mkdir x; cd x; mv ../x ../.claude; while [ -e ../.claude ]; do :; done
			stat -c %d:%i .. | cmp - ../a && test -z "$(ls -A ../.coding-ethos)" && ls -A ../.. | cmp - ../b`)
		write(t, filepath.Join(spec.Workspace, ethosDir, "traces/day"), "evidence\n")
		if r := execute(t, spec); r.err != nil || r.Status != record.StatusExited || r.ExitCode != 0 {
			t.Errorf("%v %s %d\n%s%s", r.err, r.Status, r.ExitCode, r.Stdout.Text, r.Stderr.Text)
		}
	})
}

// TestInsisting: a command that makes protected names again and again is ended,
// and the evidence says why; one that makes each of them once is not.
func TestInsisting(t *testing.T) {
	twice(t, func(t *testing.T) {
		spec := script(t, `i=0; while [ $((i += 1)) -lt 5000 ]; do mkdir .claude 2>/dev/null; done`)
		r := execute(t, spec)
		if r.err != nil || r.Status != record.StatusSignaled || !strings.Contains(r.Evidence.Reason, "protected names") {
			t.Errorf("%v %s %q", r.err, r.Status, r.Evidence.Reason)
		}
		outOfForce(t, spec.Workspace, r.Evidence, ".claude")
		twin := execute(t, script(t, theNames(`for n in $names; do mkdir "$n"; done; for i in 1 2 3 4 5 6 7 8 9; do mkdir d$i; done`)))
		if twin.err != nil || twin.Status != record.StatusExited || twin.ExitCode != 0 {
			t.Errorf("the twin: %v %s %d %s", twin.err, twin.Status, twin.ExitCode, twin.Evidence.Reason)
		}
	})
}

// TestNamesThatExist: what existed is read-only and stays.
func TestNamesThatExist(t *testing.T) {
	twice(t, func(t *testing.T) {
		for _, mine := range []string{".mcp.json", ".vscode/tasks.json", ".github/hooks/mine.json", ".agents/skills/a/SKILL.md"} {
			top := strings.Split(mine, "/")[0]
			spec := script(t, "echo evil > "+mine+" || rm -rf "+top+" || mv "+top+" x")
			write(t, filepath.Join(spec.Workspace, mine), "mine\n")
			happened := func(d record.Denial) bool { return d.Certainty != record.Inferred }
			if r := execute(t, spec); r.err != nil || r.ExitCode == 0 || slices.ContainsFunc(r.Evidence.Denials, happened) {
				t.Errorf("%s: %v %d %+v", mine, r.err, r.ExitCode, r.Evidence.Denials)
			}
			if got := readFile(t, filepath.Join(spec.Workspace, mine)); got != "mine\n" {
				t.Errorf("%s: %q", mine, got)
			}
		}
	})
}

// TestNamesReplacedOutside: the kernel takes the mount on a protected file away
// when somebody outside replaces it. The run ends, and what the command can have
// put there meanwhile is out of force.
func TestNamesReplacedOutside(t *testing.T) {
	twice(t, func(t *testing.T) {
		spec := waiting(t, "mkdir d; while :; do echo evil > d/x; ln -f d/x .mcp.json; done 2>/dev/null")
		write(t, filepath.Join(spec.Workspace, ".mcp.json"), "old\n")
		write(t, filepath.Join(spec.Workspace, "new"), "new\n")
		release, done := started(t, spec)
		release()
		if err := os.Rename(filepath.Join(spec.Workspace, "new"), filepath.Join(spec.Workspace, ".mcp.json")); err != nil {
			t.Fatal(err)
		}
		r := <-done
		if r.err != nil || r.Status != record.StatusSignaled {
			t.Errorf("%v %s", r.err, r.Status)
		}
		outOfForce(t, spec.Workspace, r.Evidence, ".mcp.json")
	})
}

// TestNothingStandsThere: while a command runs, a program outside finds nothing
// under a protected name, and the work space is listed as before.
func TestNothingStandsThere(t *testing.T) {
	twice(t, func(t *testing.T) {
		spec := repository(t, "true")
		before := names(t, spec.Workspace)
		release, done := started(t, spec)
		for _, name := range []string{"opencode.json", ".mcp.json", ".claude/settings.json", "coding_ethos.yml", "repo_config.yaml"} {
			if _, err := os.ReadFile(filepath.Join(spec.Workspace, name)); !errors.Is(err, unix.ENOENT) {
				t.Errorf("%s: %v", name, err)
			}
		}
		during := slices.DeleteFunc(names(t, spec.Workspace), func(n string) bool { return n == ethosDir })
		release()
		if r := <-done; r.err != nil || !slices.Equal(before, during) {
			t.Errorf("%v: before %v, meanwhile %v", r.err, before, during)
		}
	})
}

// TestNamesAppearInSetUp: what comes to exist between the plan and the start is
// not read-only, so the command does not start.
func TestNamesAppearInSetUp(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	spec := script(t, "true")
	plan := mustBuild(t, spec)
	write(t, filepath.Join(spec.Workspace, ".claude/settings.json"), "{}")
	_, _, err := RunCaptured(t.Context(), plan, nil)
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Hint == "" {
		t.Errorf("%v", err)
	}
	if r := execute(t, spec); r.err != nil {
		t.Errorf("the second start: %v", r.err)
	}
}

// TestNamesUnlistable: where the kernel tells nothing, because the directory
// may not be listed, the names are looked at all the same.
func TestNamesUnlistable(t *testing.T) {
	twice(t, func(t *testing.T) {
		spec := waiting(t, `cd ../other; mkdir .claude; while [ -e .claude ]; do :; done`)
		other := filepath.Join(filepath.Dir(spec.Workspace), "other")
		if err := errors.Join(os.MkdirAll(filepath.Join(other, ethosDir), 0o755), os.MkdirAll(filepath.Join(other, ".git", "hooks"), 0o755), os.WriteFile(filepath.Join(other, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o644), os.Chmod(other, 0o300)); err != nil {
			t.Fatal(err)
		}
		spec.WritePaths = []string{other}
		r := execute(t, spec)
		os.Chmod(other, 0o755)
		if r.err != nil || r.Status != record.StatusExited || r.ExitCode != 0 {
			t.Fatalf("%v %s %d %s", r.err, r.Status, r.ExitCode, r.Stderr.Text)
		}
		outOfForce(t, other, r.Evidence, ".claude")
	})
}

// TestKilledNames: when the process that runs it is killed, init puts aside
// what is there under a protected name.
func TestKilledNames(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	if os.Getenv("ETHOS_TEST_VICTIM") != "" {
		victimOf(theNames(`while :; do for n in $names; do mkdir "$n" 2>/dev/null && sleep 0.01; done; : > up; done`))
		return
	}
	for range 5 {
		spec := script(t, "true")
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestKilledNames$")
		cmd.Env = append(spec.Environ, "ETHOS_TEST_VICTIM="+spec.Workspace)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for len(inside(t, spec.Workspace)) == 0 || len(names(t, spec.Workspace)) < 2 {
			time.Sleep(time.Millisecond)
		}
		cmd.Process.Kill()
		cmd.Wait()
		// A reading of /proc misses a process that was forked behind it by one that is gone now: three in a row say so.
		for empty := 0; empty < 3; time.Sleep(time.Millisecond) {
			if empty++; len(inside(t, spec.Workspace)) > 0 {
				empty = 0
			}
		}
		outOfForce(t, spec.Workspace, record.Sandbox{})
	}
}

// TestNamesIgnoringCase: in a directory that ignores case another spelling is
// the same name.
func TestNamesIgnoringCase(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	spec := waiting(t, `echo x > .MCP.json; mkdir .Claude; while [ -e .mcp.json ] || [ -e .claude ]; do :; done; echo x > .MCP.txt`)
	probetest.NeedFunc(t, "casefold", func() string {
		if err := unix.Mount("tmpfs", spec.Workspace, "tmpfs", 0, "casefold"); err != nil {
			return "a tmpfs that ignores case cannot be mounted: " + err.Error()
		}
		if out, err := exec.Command("chattr", "+F", spec.Workspace).CombinedOutput(); err != nil {
			return "chattr +F: " + string(out)
		}
		return ""
	})
	t.Cleanup(func() { unix.Unmount(spec.Workspace, unix.MNT_DETACH) })
	r := execute(t, spec)
	if r.err != nil || r.Status != record.StatusExited || r.ExitCode != 0 {
		t.Errorf("%v %s %d %s", r.err, r.Status, r.ExitCode, r.Stderr.Text)
	}
	outOfForce(t, spec.Workspace, r.Evidence, ".mcp.json", ".claude")
	if _, err := os.Lstat(filepath.Join(spec.Workspace, ".MCP.txt")); err != nil {
		t.Errorf("the neighbour: %v", err)
	}
}

// TestNamesDeniedBesides: a protected name that a person denies by name as well
// has a placeholder, and of the kind that it would be.
func TestNamesDeniedBesides(t *testing.T) {
	twice(t, func(t *testing.T) {
		spec := script(t, `test -d .claude && test -f .mcp.json && test -f notes.txt && test -f Makefile && test -d .ssh && test -d d && test -d out
			for n in .claude .mcp.json notes.txt Makefile .ssh d out; do ! rm -rf $n 2>/dev/null || exit 1; ! mv $n x 2>/dev/null || exit 1; done; echo x > notes`)
		spec.DenyWritePaths = []string{".claude", ".mcp.json", "notes.txt", "Makefile", ".ssh", "d", "out/"}
		r := execute(t, spec)
		if r.err != nil || r.ExitCode != 0 || len(r.Evidence.Denials) > 0 {
			t.Errorf("%v %d %s %+v", r.err, r.ExitCode, r.Stderr.Text, r.Evidence.Denials)
		}
		if left := slices.DeleteFunc(names(t, spec.Workspace), func(n string) bool { return n == ethosDir }); !slices.Equal(left, []string{"notes"}) {
			t.Errorf("left behind: %v", left)
		}
	})
}
