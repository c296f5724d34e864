package explain

import (
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
			if d.Kind != record.KindCall || d.Remedy != "" || !strings.Contains(d.Reason, ": it ") || strings.HasSuffix(d.Reason, ": it ") {
				t.Errorf("%+v", d)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q of uid %d: %q, want %q", c.output, c.uid, got, c.want)
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
