package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
)

// TestOthersDirectories: root may declare a directory in which other users have theirs. Confined it has no power over them, and it cannot put others in their place.
func TestOthersDirectories(t *testing.T) {
	probetest.Need(t, probetest.UserNS, probetest.Root) // it makes directories of other users
	const other = 4321
	shared := t.TempDir()
	for _, name := range []string{"closed", "open"} {
		for _, file := range []string{"HEAD", "config", "hooks/x", "objects/x", "refs/x"} {
			write(t, filepath.Join(shared, name, "w/.git", file), "ref: refs/heads/main\n")
		}
		if name == "open" { // nothing of it exists that would be mounted over
			os.RemoveAll(filepath.Join(shared, name, "w/.git/config"))
			os.RemoveAll(filepath.Join(shared, name, "w/.git/hooks"))
		}
		if err := filepath.WalkDir(filepath.Join(shared, name), func(path string, _ os.DirEntry, err error) error { return os.Lchown(path, other, other) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(shared, "closed"), 0o700); err != nil {
		t.Fatal(err)
	}
	spec := repository(t, `cd "$0" && echo mine > mine && cat mine
for d in closed open open/w open/w/.git; do mv $d aside 2>/dev/null && echo "moved $d"; done
echo x > open/w/.git/commondir && echo made; ls closed && echo seen; true`)
	spec.Argv = append(spec.Argv, shared)
	spec.WritePaths = []string{shared}
	if r := execute(t, spec); r.err != nil || r.Status != record.StatusExited || r.ExitCode != 0 || r.Stdout.Text != "mine\n" {
		t.Errorf("%v: %s %d %q\n%s", r.err, r.Status, r.ExitCode, r.Stdout.Text, r.Stderr.Text)
	}
}

// TestDeniedBelowFile: what a person denies below a file does not come to exist: the file stays one, and can be written.
func TestDeniedBelowFile(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	spec := repository(t, "echo more >> d/f; cat d/f; mv d e && echo moved; rm -f d/f && mkdir d/f && echo x > d/f/x && echo made; true")
	write(t, filepath.Join(spec.Workspace, "d/f"), "text\n")
	spec.DenyWritePaths = []string{filepath.Join(spec.Workspace, "d/f/x?")}
	if r := execute(t, spec); r.err != nil || r.Stdout.Text != "text\nmore\n" {
		t.Errorf("%v: %s %q\n%s", r.err, r.Status, r.Stdout.Text, r.Stderr.Text)
	}
}

// TestMachineInside: the machine inside has a name that resolves, processors, and a list of packages; none of it can be changed, by root neither.
func TestMachineInside(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	spec := repository(t, `grep -c "$(hostname)" /etc/hosts; test -r /sys/devices/system/cpu/possible && echo processors
echo 0 > /sys/devices/system/cpu/cpu1/online; echo always > /sys/kernel/mm/transparent_hugepage/enabled; echo x >> /etc/hosts
for d in /sys/devices/system/cpu /var/lib/dpkg /sys/kernel/mm/transparent_hugepage; do test -d $d && touch $d/x && echo "made $d"; done
ls /sys/kernel /sys/devices /sys/devices/system /var/lib | tr '\n' ' '`)
	r := execute(t, spec)
	want := "1\nprocessors\n"
	if r.err != nil || len(r.Stdout.Text) < len(want) || r.Stdout.Text[:len(want)] != want {
		t.Errorf("%v: %s %q\n%s", r.err, r.Status, r.Stdout.Text, r.Stderr.Text)
	}
	for _, word := range []string{"made", "security", "debug", "block", "firmware", "memory "} {
		if strings.Contains(r.Stdout.Text, word) {
			t.Errorf("%s: %q", word, r.Stdout.Text)
		}
	}
}
