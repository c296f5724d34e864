package explain

import (
	"os"
	"strings"
	"testing"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/plan"
)

// TestRefusedCalls holds that messages of real programs name the call that the
// filter refused, and that what fails outside too, or is about something else, is
// not told of.
func TestRefusedCalls(t *testing.T) {
	for _, c := range []struct {
		output string
		argv   string
		uid    int
		want   string
	}{
		{"strace: PTRACE_SETOPTIONS: Operation not permitted\nstrace: detach: waitpid(6): No child processes\n", "strace true", 1000, "ptrace"},
		{"warning: ptrace: Operation not permitted\n", "gdb x", 1000, "ptrace"},
		{"unshare: unshare failed: Operation not permitted\n", "unshare -Ur true", 1000, "unshare"},
		{"bwrap: Creating new namespace failed: Operation not permitted\n", "bwrap true", 1000, "unshare"},
		{"umount: /proc: must be superuser to unmount.\n", "umount /proc", 0, "umount2"},
		{"mount: /mnt: permission denied.\n", "mount x", 0, "mount"},
		{"dmesg: read kernel buffer failed: Operation not permitted\n", "dmesg", 0, "syslog"},
		{"io_uring_setup: Function not implemented\n", "x", 1000, "io_uring_setup"},
		{"", "strace true", 1000, "ptrace"}, // what it printed is not known
		// Outside, too, these take privileges.
		{"mount: /mnt: must be superuser to use mount.\n", "mount x", 1000, ""},
		{"chroot: cannot change root directory to '/': Operation not permitted\n", "chroot /", 1000, ""},
		{"", "mount x", 1000, ""},
		// These tell of nothing that the filter refused.
		{"strace: Cannot find executable 'x'\n", "strace x", 1000, ""},
		{"cat: mount.txt: No such file or directory\n", "cat mount.txt", 0, ""},
		{"cp: cannot open 'f': Permission denied\n", "cp f g", 0, ""},
		{"tests failed\n", "strace x", 1000, ""},
	} {
		x := New(&plan.Plan{Network: "loopback", Dir: "/w"}, plan.HostFiles{}, c.uid, nil)
		var got []string
		for _, d := range x.calls(Failed{Argv: strings.Fields(c.argv), Output: c.output}) {
			got = append(got, d.What)
			if d.Kind != record.KindCall || (d.Remedy == "--debug") != (d.What == "ptrace") || !strings.Contains(d.Reason, ": it ") || strings.HasSuffix(d.Reason, ": it ") {
				t.Errorf("%+v", d)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q of uid %d: %q, want %q", c.output, c.uid, got, c.want)
		}
	}
}

// TestNestingRemedies: what opens a call that makes namespaces is told to who can
// have it, and nothing where all of it is open.
func TestNestingRemedies(t *testing.T) {
	const flag, mounts = "--allow-nested-userns", "--allow-nested-userns=mounts"
	for _, c := range []struct {
		program, nested string
		uid             int
		want            string
	}{
		{"unshare", "", 1000, flag},
		{"bwrap", "", 1000, mounts},
		{"bwrap", "namespaces", 1000, mounts},
		{"unshare", "namespaces", 1000, ""}, // a cgroup namespace, say
		{"bwrap", "mounts", 1000, ""},
		{"unshare", "", 0, ""},
	} {
		x := New(&plan.Plan{Network: "loopback", Dir: "/w", NestedUserns: c.nested}, plan.HostFiles{}, c.uid, nil)
		got := x.calls(Failed{Argv: []string{c.program}, Output: c.program + ": Creating new namespace failed: Operation not permitted\n"})
		if len(got) != 1 || got[0].Remedy != c.want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// TestSigning: a commit that nothing signed is told what to do about it, and another failure of git is not.
func TestSigning(t *testing.T) {
	for output, want := range map[string]bool{
		"error: Couldn't load public key /h/.ssh/id.pub: No such file or directory?\n\nfatal: failed to write commit object\n": true,
		"error: gpg failed to sign the data\nerror: unable to sign the tag\n":                                                  true,
		"fatal: not a git repository (or any of the parent directories): .git\n":                                               false,
	} {
		x := New(&plan.Plan{Network: "loopback", Dir: "/w"}, plan.HostFiles{}, 1000, nil)
		list := x.Infer(Failed{Argv: []string{"git", "commit"}, Output: output, Read: true})
		got := len(list) > 0 && strings.Contains(list[len(list)-1].Reason, "--no-gpg-sign")
		if got != want {
			t.Errorf("%q: %+v", output, list)
		}
	}
	home := t.TempDir()
	if err := os.WriteFile(home+"/.gitconfig", []byte("[commit]\n\tgpgSign = true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]int{"git commit -m x": 1, "git commit --no-gpg-sign -m x": 0, "git status": 0, "make commit": 0} { // what it printed is not known
		x := New(&plan.Plan{Network: "loopback", Dir: "/w", Workspace: "/w", Home: home}, plan.HostFiles{}, 1000, nil)
		if list := x.signing(Failed{Argv: strings.Fields(line)}); len(list) != want {
			t.Errorf("%s: %+v", line, list)
		}
	}
}

// TestRefusedCallsAreOfTheFilter holds the table to the rules of the filter.
func TestRefusedCallsAreOfTheFilter(t *testing.T) {
	for _, c := range refusedCalls {
		if whyRefused(c.name) == "" {
			t.Errorf("no rule refuses %s", c.name)
		}
	}
}
