package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ethos/pkg/capability"
	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/sandbox/view"
)

// needUpper skips where no file system carries the upper layer of a view, as in a
// guest whose root is in memory.
func needUpper(t *testing.T) {
	t.Helper()
	probetest.NeedFunc(t, "upper", func() string {
		home := t.TempDir()
		v, err := view.Create(view.Place{Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }})
		if errors.Is(err, view.ErrNoUpper) {
			return err.Error()
		}
		if err == nil {
			err = v.Remove()
		}
		if err != nil {
			t.Fatal(err)
		}
		return ""
	})
}

// inView is a script in a copy-on-write view that is thrown away.
func inView(t *testing.T, text string) Spec {
	spec := script(t, text)
	spec.View = capability.CopyOnWrite
	return spec
}

// state is a tree by its paths: type, mode, content and target.
func state(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		line := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(text)
			line += fmt.Sprint(" ", len(text), " ", hex.EncodeToString(sum[:]))
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			line += " " + to
		}
		out[rel] = line
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestViewIsThrownAway: whatever the command does, the work space stays as it is,
// and nothing is left; what it did is in the evidence.
func TestViewIsThrownAway(t *testing.T) {
	needUpper(t)
	twice(t, func(t *testing.T) {
		spec := inView(t, `set -e
			echo new > made; echo more >> kept; rm gone; mkdir -p d/e; mv dir/x d/e/y; rm -r dir; mkdir dir; chmod 700 hard
			ln -sf elsewhere link; echo through > hard2; ln kept other; mkfifo pipe; : > .mcp.json; mkdir .claude; truncate -s 3 big
			! echo x > denied/x; ! echo x > .git/config; mkdir .git/hooks; echo x > .git/hooks/pre-commit; cat kept`)
		w := spec.Workspace
		spec.DenyWritePaths = []string{filepath.Join(w, "denied")}
		for name, text := range map[string]string{"kept": "k\n", "gone": "g\n", "dir/x": "x\n", "dir/z": "z\n", "hard": "h\n", "denied/y": "y\n", "big": "1234567\n", ".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n"} {
			write(t, filepath.Join(w, name), text)
		}
		if err := errors.Join(os.Link(filepath.Join(w, "hard"), filepath.Join(w, "hard2")), os.Symlink("kept", filepath.Join(w, "link"))); err != nil {
			t.Fatal(err)
		}
		before := state(t, filepath.Dir(w))
		r := execute(t, spec)
		if r.err != nil || r.ExitCode != 0 || r.Stdout.Text != "k\nmore\n" {
			t.Fatalf("%v: %s %d %q %s", r.err, r.Status, r.ExitCode, r.Stdout.Text, r.Stderr.Text)
		}
		after := state(t, filepath.Dir(w))
		for path := range after {
			if strings.HasPrefix(path, "home/.local") {
				delete(after, path) // the state folder
			}
		}
		delete(before, "home")
		delete(after, "home")
		if fmt.Sprint(before) != fmt.Sprint(after) {
			t.Errorf("before\n%v\nafter\n%v", before, after)
		}
		if left := names(t, filepath.Join(filepath.Dir(w), "home/.local/state/ethos/views")); len(left) > 0 {
			t.Errorf("views are left: %v", left)
		}
		if line := lineOf(r, "workspace"); line.State != control.Enforced || line.Enforced != "copy-on-write, discarded" {
			t.Errorf("%+v", line)
		}
		var got []string
		for _, one := range r.Outcome.Writes.List {
			got = append(got, one.Op[:1]+" "+strings.TrimPrefix(one.Path, w+"/"))
		}
		want := []string{"c .claude", "c .git/hooks", "c .git/hooks/pre-commit", "c .mcp.json", "m big", "c d", "c d/e", "c d/e/y", "d dir/x", "d dir/z", "d gone", "m hard", "m hard2", "m kept", "m link", "c made", "c other", "c pipe"}
		if !slices.Equal(got, want) {
			t.Errorf("writes\n%q, want\n%q", got, want)
		}
	})
}

func lineOf(r result, name string) record.Control {
	for _, c := range r.Evidence.Controls {
		if c.Name == name {
			return c
		}
	}
	return record.Control{}
}

// TestViewForgery: a command that forges the marks of the upper layer gets none,
// and cannot reach the layers.
func TestViewForgery(t *testing.T) {
	needUpper(t)
	probetest.Need(t, "command:python3")
	twice(t, func(t *testing.T) {
		spec := inView(t, "")
		w := spec.Workspace
		spec.Argv = []string{"sh", "-c", `
			! mknod gone c 0 0 2>/dev/null || echo MKNOD
			! ls /proc/1/root/ >/dev/null 2>&1 || echo ROOT
			for f in 901 902 903; do ! ls /proc/1/fd/$f/ >/dev/null 2>&1 || echo FD$f; ! ls /proc/self/fd/$f/ >/dev/null 2>&1 || echo SELF$f; done
			! ls "$HOME/.local/state/ethos" >/dev/null 2>&1 || echo STATE
			! mount -t overlay o -o lowerdir=/,upperdir=dir,workdir=dir dir 2>/dev/null || echo MOUNT
			python3 - <<'P'
import os
for name in ("opaque","redirect","metacopy","whiteout","origin"):
    for target, value in (("dir",b"y"),("kept",b"/etc/passwd"),("dir/x",b"")):
        try:
            os.setxattr(target, "user.overlay."+name, value)
        except OSError as e:
            pass
P
			cat dir/x kept
		`}
		for name, text := range map[string]string{"dir/x": "x\n", "kept": "k\n", "gone": "g\n"} {
			write(t, filepath.Join(w, name), text)
		}
		r := execute(t, spec)
		if r.err != nil || r.ExitCode != 0 || r.Stdout.Text != "x\nk\n" {
			t.Errorf("%v: %d %q %s", r.err, r.ExitCode, r.Stdout.Text, r.Stderr.Text)
		}
		if n := len(r.Outcome.Writes.List); n > 0 {
			t.Errorf("forged marks count as writes: %+v", r.Outcome.Writes.List)
		}
		if line := lineOf(r, "workspace"); line.State != control.Enforced {
			t.Errorf("%+v", line)
		}
	})
}

// TestViewRefuses: where there can be no view nothing runs.
func TestViewRefuses(t *testing.T) {
	needUpper(t)
	spec := inView(t, "echo x > marker")
	file := filepath.Join(filepath.Dir(spec.Workspace), "file")
	write(t, file, "f\n")
	spec.WritePaths = []string{file}
	if _, err := Build(spec, HostFiles{}, os.Geteuid()); err == nil || !strings.Contains(err.Error(), "copy-on-write view") {
		t.Errorf("a writable file: %v", err)
	}
	spec = inView(t, "echo x > marker")
	p := mustBuild(t, spec)
	place := control.ViewPlace(p, "")
	place.Hidden = func(string) bool { return false }
	if v, err := view.Create(place); !errors.Is(err, view.ErrNoUpper) {
		t.Errorf("every directory is visible: %v %v", v, err)
	}
	home := plan.Lookup(spec.Environ, "HOME")
	if left := names(t, filepath.Join(home, ".local/state/ethos/views")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// kept runs a spec in a view that is kept, and opens it.
func kept(t *testing.T, spec Spec) (*view.View, []view.Change, result) {
	t.Helper()
	spec.View = capability.CopyOnWrite
	p := mustBuild(t, spec)
	v, err := view.Create(ViewPlace(p, "test"))
	if err != nil {
		t.Fatal(err)
	}
	p.View.At = v.Dir
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	out, got, err := RunCaptured(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v, err = view.OpenAt(p.Getenv, p.View.At); err != nil {
		t.Fatal(err)
	}
	changes, err := v.Changes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Remove() })
	return v, changes, result{out, got, nil}
}

func environ(spec Spec) func(string) string {
	return func(name string) string { return plan.Lookup(spec.Environ, name) }
}

// randomOperations is a script of operations on a small tree of names, so that
// they meet often.
func randomOperations(r *rand.Rand, n int, links bool) string {
	name := func() string {
		parts := []string{}
		for range 1 + r.IntN(3) {
			parts = append(parts, string(rune('a'+r.IntN(4))))
		}
		return strings.Join(parts, "/")
	}
	var b strings.Builder
	for i := range n {
		p, q := name(), name()
		switch r.IntN(14) {
		case 0, 1:
			fmt.Fprintf(&b, "echo %d > %s\n", i, p)
		case 2:
			fmt.Fprintf(&b, "echo %d >> %s\n", i, p)
		case 3, 4:
			fmt.Fprintf(&b, "mkdir -p %s\n", p)
		case 5:
			fmt.Fprintf(&b, "rm -rf %s\n", p)
		case 6:
			fmt.Fprintf(&b, "rm -f %s\n", p)
		case 7, 8:
			fmt.Fprintf(&b, "[ -e %[2]s ] || mv %[1]s %[2]s\n", p, q)
		case 9:
			fmt.Fprintf(&b, "mv -T %s %s\n", p, q)
		case 10:
			fmt.Fprintf(&b, "ln -sfn %s %s\n", q, p)
		case 11:
			if !links { // a file below that has several names is one no more when it is changed
				continue
			}
			fmt.Fprintf(&b, "ln -f -T %s %s\n", q, p)
		case 12:
			// A directory is moved by copying it, which fails where one in it cannot be written; and of
			// a file from below that got a second name, the kernel knows the mode by one of them.
			fmt.Fprintf(&b, "[ -L %[2]s ] || { [ -d %[2]s ] && chmod %[1]o %[2]s || chmod %[3]o %[2]s; }\n", 0o700|r.IntN(8)<<3, p, 0o600|r.IntN(0o200))
		case 13:
			fmt.Fprintf(&b, "rm -rf %[1]s && mkdir %[1]s\n", p)
		}
	}
	return b.String()
}

// TestViewOracle: random operations in a view, applied, leave what the same
// operations leave without one; and the list of changes is what a comparison of
// the two trees says.
func TestViewOracle(t *testing.T) {
	needUpper(t)
	rounds, _ := strconv.Atoi(os.Getenv("ETHOS_TEST_VIEWS"))
	twice(t, func(t *testing.T) {
		for seed := range uint64(max(rounds, 6)) {
			r := rand.New(rand.NewPCG(seed, 7))
			first, second := randomOperations(r, 60, false), randomOperations(r, 60, true)
			text := "exec 2>/dev/null\numask 022\n"
			spec := script(t, text+second+"true")
			other := script(t, text+first+second+"true") // in a boundary, too: root has no capability there
			direct := other.Workspace
			setup := script(t, text+first+"true")
			setup.Workspace, setup.Dir, setup.Environ = spec.Workspace, spec.Dir, spec.Environ
			for _, one := range []Spec{setup, other} {
				if r := execute(t, one); r.err != nil || r.ExitCode != 0 {
					t.Fatalf("%v: %d %s", r.err, r.ExitCode, r.Stderr.Text)
				}
			}
			before := state(t, spec.Workspace)
			v, changes, ran := kept(t, spec)
			if ran.ExitCode != 0 {
				t.Fatalf("%d %s", ran.ExitCode, ran.Stderr.Text)
			}
			want := state(t, direct)
			if got := listed(changes); !slices.Equal(got, compared(before, want)) {
				t.Fatalf("seed %d: changes\n%q, want\n%q\n%s--\n%s", seed, got, compared(before, want), first, second)
			}
			if !slices.Equal(mapped(state(t, spec.Workspace)), mapped(before)) {
				t.Fatalf("seed %d: the work space changed before anything was applied", seed)
			}
			result := ApplyView(t.Context(), v, environ(spec), changes)
			if len(result.Left) > 0 {
				t.Fatalf("seed %d: left %+v\n%s--\n%s", seed, result.Left, first, second)
			}
			if got := state(t, spec.Workspace); !slices.Equal(mapped(got), mapped(want)) {
				t.Fatalf("seed %d: applied\n%q, want\n%q\n%s--\n%s", seed, mapped(got), mapped(want), first, second)
			}
			again, err := v.Changes(t.Context())
			if err != nil || len(again) > 0 {
				t.Fatalf("seed %d: still different: %q, %v", seed, listed(again), err)
			}
			v.Remove()
		}
	})
}

func mapped(tree map[string]string) (list []string) {
	for path, line := range tree {
		list = append(list, path+" "+line)
	}
	slices.Sort(list)
	return list
}

// listed are changes in the form of compared.
func listed(changes []view.Change) (list []string) {
	for _, c := range changes {
		rel := c.Rel
		if rel == "" {
			rel = "."
		}
		list = append(list, rel+" "+c.Op)
	}
	slices.Sort(list)
	return list
}

// compared is the difference of two trees.
func compared(before, after map[string]string) (list []string) {
	for path, line := range after {
		switch was, ok := before[path]; {
		case !ok:
			list = append(list, path+" "+record.WriteCreated)
		case was != line:
			list = append(list, path+" "+record.WriteModified)
		}
	}
	for path := range before {
		if _, ok := after[path]; !ok {
			list = append(list, path+" "+record.WriteDeleted)
		}
	}
	slices.Sort(list)
	return list
}

// moveHidden gives a file that a mount hides another name, in a mount namespace that does not have the mount.
const moveHidden = `unshare -Urm python3 -c '
import os, ctypes
c = ctypes.CDLL(None)
work = os.open(".", os.O_PATH)
c.mount(b"t", b"/tmp", b"tmpfs", 0, 0)
os.mkdir("/tmp/old")
pivot_root = {"x86_64": 155, "aarch64": 41}[os.uname().machine]
c.syscall(pivot_root, b"/tmp", b"/tmp/old")
os.chdir("/")
c.umount2(b"/old", 2) # MNT_DETACH
os.rename(".env", "plain", src_dir_fd=work, dst_dir_fd=work)
'; echo moved=$?; cat plain`

// TestViewExposed: a command that may mount moves what is hidden from it in a view. Nobody gets that view any more, not the host and not another
// command; without the move, it is a view like others.
func TestViewExposed(t *testing.T) {
	probetest.Need(t, probetest.User, probetest.UserNS, "command:unshare", "command:python3") // root can make no user namespace inside
	needUpper(t)
	for script, moved := range map[string]bool{moveHidden: true, "echo moved=0; echo made > plain": false} {
		spec := inView(t, script)
		if err := os.WriteFile(filepath.Join(spec.Workspace, ".env"), []byte("the secret"), 0o600); err != nil {
			t.Fatal(err)
		}
		spec.NestedUserns = capability.NestedMounts
		v, changes, got := kept(t, spec)
		if !strings.HasPrefix(got.Stdout.Text, "moved=0\n") || strings.Contains(got.Stdout.Text, "secret") {
			t.Fatalf("%q %q", got.Stdout.Text, got.Stderr.Text)
		}
		if err := v.Exposed(); (err != nil) != moved {
			t.Errorf("moved %v: %v", moved, err)
		}
		applied := v.Apply(t.Context(), changes)
		if (len(applied.Applied) == 0) != moved {
			t.Errorf("moved %v: applied %v, left %v", moved, applied.Applied, applied.Left)
		}
		if _, _, err := v.Onto(0, changes, t.TempDir()); (err != nil) != moved {
			t.Errorf("moved %v: kept: %v", moved, err)
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		spec.NestedUserns, spec.Argv = "", []string{"cat", "plain"}
		p := mustBuild(t, spec)
		p.View.At = v.Dir
		_, again, err := RunCaptured(t.Context(), p, nil)
		if (err != nil) != moved || !moved && again.Stdout.Text != "made\n" {
			t.Errorf("moved %v: the next command: %q, %v", moved, again.Stdout.Text, err)
		}
	}
}
