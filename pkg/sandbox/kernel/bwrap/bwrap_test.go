package bwrap

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/sandbox/kernel/mount"
)

// TestArguments: what is read-only becomes so when everything in it is in place, deepest first, and the root last.
func TestArguments(t *testing.T) {
	mounts := []mount.Mount{
		{Kind: mount.Private, Target: "/dev"}, {Kind: mount.Proc, Target: "/proc"}, {Kind: mount.Private, Target: "/run"}, {Kind: mount.Private, Target: "/tmp", Writable: true, Mode: 0o1777},
		{Kind: mount.Bind, Target: "/usr", Source: "/usr"}, {Kind: mount.Bind, Target: "/dev/null", Source: "/dev/null", File: true, Device: true},
		{Kind: mount.Symlink, Target: "/dev/fd", Source: "/proc/self/fd"}, {Kind: mount.Bind, Target: "/w", Source: "/w", Writable: true},
		{Kind: mount.Mask, Target: "/w/dir"}, {Kind: mount.Mask, Target: "/w/file", File: true}, {Kind: mount.MaskOpen, Target: "/w/open", Mode: 0o555},
		{Kind: mount.Text, Target: "/usr/text", File: true, Text: "words"},
	}
	args, contents, err := Arguments(mounts, Options{Unshare: []string{"user"}, Hostname: "h", ScratchBytes: 1 << 20})
	want := "--as-pid-1 --cap-drop ALL --unshare-user --hostname h --dev /dev --proc /proc --perms 0755 --dir /run --perms 1777 --size 1048576 --tmpfs /tmp --ro-bind /usr /usr --bind /w /w " +
		"--perms 0000 --size 65536 --tmpfs /w/dir --perms 0000 --ro-bind-data  /w/file --perms 0555 --size 65536 --tmpfs /w/open --perms 0444 --ro-bind-data  /usr/text " +
		"--remount-ro /w/open --remount-ro /w/dir --remount-ro /proc --remount-ro /dev --remount-ro /"
	if got := strings.Join(args, " "); err != nil || got != want {
		t.Errorf("%v\n%s\nand not\n%s", err, got, want)
	}
	if len(contents) != 2 || string(contents[1].Text) != "words" || args[contents[1].At+1] != "/usr/text" || len(contents[0].Text) > 0 {
		t.Errorf("%+v", contents)
	}
	if args, _, _ := Arguments(mounts, Options{ScratchBytes: 1, NoSizes: true}); slices.Contains(args, "--size") {
		t.Error("it has the set-user-ID bit, and is asked for sizes")
	}
	for _, m := range []mount.Mount{{Kind: mount.Bind, Target: "/a", Source: "/a", NoExec: true}, {Kind: mount.Overlay, Target: "/a"}, {Kind: mount.Link, Target: "/a"}, {Kind: mount.Closed, Target: "/a"}} {
		if _, _, err := Arguments([]mount.Mount{m}, Options{}); err == nil {
			t.Errorf("%s is no error", m.Kind)
		}
	}
}

// TestFindPlanted: a program that somebody other than root could have put there is not run, not even for its version.
func TestFindPlanted(t *testing.T) {
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	if err := os.WriteFile(dir+"/bwrap", []byte("#!/bin/sh\n: > "+ran+"\necho bubblewrap 0.11.0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, outside := range map[string][]string{dir: nil, dir + ":" + dir: {dir}, "relative": nil} {
		if p, err := Find(t.Context(), path, outside); err == nil {
			t.Errorf("%s: %+v", path, p)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("it was run")
	}
}

// TestRecent: versions compare as numbers.
// TestFindLinked: a link that a command planted on PATH names a program of root, which is neither
// run nor keeps the real bubblewrap from being found.
func TestFindLinked(t *testing.T) {
	probetest.Need(t, "command:git", "command:bwrap")
	dir := t.TempDir()
	git, err1 := exec.LookPath("git")
	real, err2 := exec.LookPath("bwrap")
	if err := errors.Join(err1, err2, os.Symlink(git, dir+"/bwrap")); err != nil {
		t.Fatal(err)
	}
	for _, outside := range [][]string{nil, {dir}} {
		if p, err := Find(t.Context(), dir, outside); err == nil || !strings.Contains(err.Error(), dir+"/bwrap is not used") {
			t.Errorf("%+v, %v", p, err)
		}
	}
	if p, err := Find(t.Context(), dir+":"+filepath.Dir(real), []string{dir}); err != nil || filepath.Base(p.Path) != "bwrap" {
		t.Errorf("%+v, %v, want %s", p, err, real)
	}
	if text, err := version(t.Context(), git); err == nil || !strings.Contains(err.Error(), "is not bubblewrap") {
		t.Errorf("%s has the version %q of bubblewrap: %v", git, text, err)
	}
}

func TestRecent(t *testing.T) {
	for version, want := range map[string]bool{"0.8.0": true, "0.11.0": true, "1.0": true, "0.7.9": false, "0.10": true, "0": false, "": false, "new": false, "0.8.0-rc1": true} {
		if recent(version) != want {
			t.Errorf("%q is not %v", version, want)
		}
	}
}
