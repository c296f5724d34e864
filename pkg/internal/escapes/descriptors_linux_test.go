package escapes

import (
	"context"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
)

// TestDescriptors: what stands at the standard descriptors is given as it was opened, and leads nowhere else.
func TestDescriptors(t *testing.T) {
	twice(t, func(t *testing.T) {
		host := newHost(t)
		const repository = "mkdir -p .git/objects; echo 'ref: refs/heads/m' > .git/HEAD; echo good > .git/config; echo x > f\n"
		for _, c := range []struct{ name, stdin, attack, after string }{
			{"file-reopened-for-writing", "out/secret", "echo evil > /proc/self/fd/0", `test "$(cat $OUT/secret)" = secret`},
			{"protected-file-reopened-for-writing", "w/.git/config", "echo evil > /proc/self/fd/0", `test "$(cat .git/config)" = good`},
			{"directory-read", "out", "cat /proc/self/fd/0/secret", "true"},
			{"directory-climbed", "out", "cat /proc/self/fd/0/../out/secret", "true"},
			{"directory-work-space", "w", "echo evil > /proc/self/fd/0/.git/config", `test "$(cat .git/config)" = good`},
		} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				p := host.place(t, Case{Setup: repository})
				if host.given(t, p, c.stdin, c.attack) {
					t.Error("the attack got through")
				}
				if os.Geteuid() != 0 && host.given(t, p, c.stdin, c.attack, mounting...) { // without rules of Landlock on files
					t.Error("the attack got through where the command may mount")
				}
				if said, err := p.shell(c.after).CombinedOutput(); err != nil {
					t.Errorf("afterwards: %v %s", err, said)
				}
				if !host.given(t, p, "w/f", `test "$(cat)" = x && echo y > /proc/self/fd/0`) {
					t.Error("the twin, a file of the work space, cannot be read and opened again")
				}
			})
		}
	})
}

// TestDescriptorFIFO: the other end of a FIFO with a name is not opened from the one that was given. A pipe has no name.
func TestDescriptorFIFO(t *testing.T) {
	probetest.Need(t, probetest.User, probetest.UserNS) // root can make no user namespace inside
	host := newHost(t)
	p := host.place(t, Case{})
	name := p.base + "/out/fifo"
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	fifo, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer fifo.Close()
	const attack = "echo evil > /proc/self/fd/0"
	for _, flags := range [][]string{nil, mounting} {
		if host.fed(t, p, fifo, attack, flags...) {
			t.Errorf("%q: the other end was opened", flags)
		}
	}
	if read, write, err := os.Pipe(); err != nil || write.Close() != nil || !host.fed(t, p, read, "cat", mounting...) {
		t.Errorf("the twin, a pipe, cannot be read: %v", err)
	}
}

// mounting are the flags of a command that may mount in user namespaces of its own.
var mounting = []string{"--profile", "lint-offline", "--allow-nested-userns", "mounts"}

// given runs a script with a file of the place as its standard input, and reports whether it ended with 0.
func (h *host) given(t *testing.T, p place, stdin, script string, flags ...string) bool {
	t.Helper()
	in, err := os.Open(p.base + "/" + stdin)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	return h.fed(t, p, in, script, flags...)
}

func (h *host) fed(t *testing.T, p place, in *os.File, script string, flags ...string) bool {
	t.Helper()
	spec, err := p.spec(Case{Flags: flags}, script)
	if err != nil {
		t.Fatal(err)
	}
	spec.CloseStdin = false
	plan, err := sandbox.Build(spec, sandbox.HostFiles{}, os.Geteuid())
	if err != nil {
		t.Fatal(err)
	}
	out, err := sandbox.Run(context.Background(), plan, sandbox.IO{Stdin: in})
	return err == nil && out.Status == record.StatusExited && out.ExitCode == 0
}
