package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ethos/pkg/capability"
	"ethos/pkg/sandbox/plan"
)

// ownersTurn names, in the environment of a test process of the owner, the work space in which it runs a command.
const ownersTurn = "ETHOS_TEST_OWNERS_TURN"

// TestOwnerStore: after root's commands in somebody else's work space, whatever these leave there, the owner's runs and store are what they were. What ethos
// itself makes there is the owner's.
func TestOwnerStore(t *testing.T) {
	if dir := os.Getenv(ownersTurn); dir != "" {
		r := execute(t, Spec{Asked: capability.OnProfile(""), Argv: []string{"sh", "-c", "echo owner > owners"}, Dir: dir, Workspace: dir,
			Environ: []string{"HOME=" + filepath.Dir(dir), "PATH=/usr/bin:/bin"}, NewSession: true, CloseStdin: true})
		if r.err != nil || r.ExitCode != 0 {
			t.Fatalf("%v %s", r.err, r.Stderr.Text)
		}
		return
	}
	const finding = "mkdir -p s; echo {} > s/.mcp.json"
	for name, c := range map[string]struct {
		store, git bool
		command    string
		found      int
	}{
		"a store":                    {store: true, command: finding, found: 1},
		"a store beside git":         {store: true, git: true, command: finding, found: 1},
		"nothing there":              {command: finding, found: 1},
		"git only":                   {git: true, command: finding, found: 1},
		"nothing left":               {git: true, command: "echo x > x"},
		"nothing left, no git":       {command: "echo x > x"},
		"a directory of the command": {command: "mkdir .coding-ethos && chown 64017:64017 .coding-ethos; " + finding, found: 1},
	} {
		t.Run(name, func(t *testing.T) {
			spec := owned(t, c.command)
			w := spec.Workspace
			if !c.git {
				if err := os.RemoveAll(filepath.Join(w, ".git")); err != nil {
					t.Fatal(err)
				}
			}
			kept := filepath.Join(w, plan.EthosDir)
			var before syscall.Stat_t
			if c.store {
				write(t, filepath.Join(kept, "traces/2026/day"), "trace\n")
				give(t, kept, ownerID, ownerID)
				if err := errors.Join(os.Chmod(kept, 0o700), syscall.Lstat(kept, &before)); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				r := execute(t, spec)
				if list := found(r); r.err != nil || len(list) != c.found || c.found > 0 && list[0].Kept == "" {
					t.Fatalf("%v %s %+v", r.err, r.Stderr.Text, list)
				}
				if c.store {
					var now syscall.Stat_t
					text, err := os.ReadFile(filepath.Join(kept, "traces/2026/day"))
					if err := errors.Join(err, syscall.Lstat(kept, &now)); err != nil || now.Ino != before.Ino || now.Uid != ownerID || string(text) != "trace\n" {
						t.Errorf("the store is another: %v, %q", err, text)
					}
				}
				ownersDirectories(t, w)
				asOwner(t, w)
			}
			for _, name := range names(t, w) {
				if strings.HasPrefix(name, plan.EthosDir+".") {
					t.Errorf("left: %s", name)
				}
			}
		})
	}
}

// ownersDirectories checks that the owner can use what ethos has made in a work space, except for root's own caches.
func ownersDirectories(t *testing.T, w string) {
	t.Helper()
	for _, own := range []string{plan.EthosDir, ".git/coding-ethos"} {
		err := filepath.WalkDir(filepath.Join(w, own), func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			rel, _ := filepath.Rel(filepath.Join(w, own), path)
			if uid, _ := ids(t, path); uid != ownerID && !strings.HasPrefix(rel, "cache/") && !strings.HasSuffix(rel, ".quarantined") {
				t.Errorf("%s belongs to %d", path, uid)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// asOwner runs the test once more, as the owner.
func asOwner(t *testing.T, w string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(filepath.Dir(w), "test")
	if _, err := os.Lstat(exe); err != nil {
		mustRun(t, exec.Command("cp", self, exe))
		for dir := filepath.Dir(filepath.Dir(w)); dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd := exec.Command(exe, "-test.run=^TestOwnerStore$", "-test.count=1")
	cmd.Env, cmd.Dir = append(os.Environ(), ownersTurn+"="+w, "HOME="+filepath.Dir(w), "TMPDIR="+filepath.Dir(w), "XDG_STATE_HOME="), filepath.Dir(w)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ownerID, Gid: ownerID}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as the owner: %v\n%s", err, out)
	}
}
