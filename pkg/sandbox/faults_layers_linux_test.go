package sandbox

import (
	"context"
	"errors"
	"flag"
	"net"
	"os"
	osexec "os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/exec"
	"ethos/pkg/sandbox/kernel/landlock"
	"ethos/pkg/sandbox/kernel/notify"
	"ethos/pkg/sandbox/kernel/steps"
)

// unverified carries a plan out without comparing anything, so that a layer can be taken away to see what the others hold alone.
func unverified(t testing.TB, p *Plan, tamper func(*steps.Step)) (said string, status int) {
	t.Helper()
	out, err := os.CreateTemp(t.TempDir(), "said")
	if err != nil {
		t.Fatal(err)
	}
	c, release, err := (&exec.Runner{Plan: p, IO: IO{Stdout: out, Stderr: out}}).Compile(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for _, list := range [][]steps.Step{c.Init, c.Command} {
		for i := range list {
			tamper(&list[i])
		}
	}
	proc, err := steps.Start(&c.Program)
	if err != nil {
		t.Fatal(err)
	}
	defer proc.Wait()
	status = ended(t, proc)
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text), status
}

// ended lets the command go when it waits, and returns its exit status.
func ended(t testing.TB, p *steps.Process) int {
	t.Helper()
	waiting, finalized := false, false
	for {
		event, err := p.Next(time.Now().Add(time.Minute))
		switch {
		case err != nil:
			t.Fatal(err)
		case event.Kind == steps.Waiting:
			waiting = true
		case event.Kind == steps.Finalized:
			finalized = true
		case event.Kind == steps.Handed && event.What == control.HandedListener:
			go notify.Pass(event.FD)
		case event.Kind == steps.Handed:
			unix.Close(event.FD)
		case event.Kind == steps.Exited:
			return event.Status.ExitStatus()
		case event.Kind == steps.Failed || event.Kind == steps.Gone || event.Kind == steps.Idle:
			t.Fatalf("%v %v", event.Kind, event.Err)
		}
		if waiting && finalized {
			waiting = false
			if err := p.Go(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// withoutMountFlags takes the mount layer's flags away: every bind is as the host has it.
func withoutMountFlags(s *steps.Step) {
	if s.Call == "mount_setattr" {
		s.Nr, s.Want = unix.SYS_GETPID, 0
	}
}

// TestLandlockAlone: where every mount is writable Landlock holds what is declared readable. The directory lies in no tree that the command may write to, the private /tmp
// among them: rights add up from a path to the root, so within such a tree only the mounts can take some away.
func TestLandlockAlone(t *testing.T) {
	probetest.Need(t, probetest.Root, probetest.UserNS)
	needTruncation(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, attack := range map[string]string{
		"write": "echo x >> f", "truncate": "truncate -s 0 f", "make": "echo x > new", "remove": "rm -f f", "mkdir": "mkdir new", "rmdir": "rmdir d", "fifo": "mkfifo new",
		"symlink": "ln -s f new", "link": "ln f new", "rename": "mv f new", "rename directory": "mv d new", "replace": "echo x > $W/x && mv $W/x f",
		"truncate by name": "$W/call truncate f", "socket": "$W/call bind new", // calls that no shell makes
	} {
		t.Run(name, func(t *testing.T) {
			kept, err := os.MkdirTemp("/srv", "ethos-test-")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(kept) })
			spec := script(t, "")
			write(t, spec.Workspace+"/call", "#!/bin/sh\nexec $(dirname $0)/test -test.run='^TestCall$' \"$@\"\n")
			mustRun(t, osexec.Command("cp", self, spec.Workspace+"/test"))
			mustRun(t, osexec.Command("chmod", "+x", spec.Workspace+"/call"))
			spec.Argv[2] = "W=" + spec.Workspace + "; attack() { cd $1 && " + attack + "; }; mkdir $W/m $W/m/d && echo x > $W/m/f && (attack $W/m) || exit 8; attack " + kept
			write(t, kept+"/f", "kept\n")
			if err := os.Mkdir(kept+"/d", 0o755); err != nil {
				t.Fatal(err)
			}
			spec.ReadPaths = []string{kept}
			before := snapshot(t, kept)
			said, status := unverified(t, mustBuild(t, spec), withoutMountFlags)
			if status == 0 || status == 8 || !strings.Contains(said, "denied") {
				t.Errorf("status %d: %s", status, said)
			}
			if after := snapshot(t, kept); !slices.Equal(before, after) {
				t.Errorf("before %v, after %v", before, after)
			}
		})
	}
}

// TestCall makes the system call that its arguments name, for tests that run this program inside.
func TestCall(t *testing.T) {
	var err error
	switch flag.Arg(0) {
	case "truncate":
		err = unix.Truncate(flag.Arg(1), 0)
	case "bind":
		_, err = net.Listen("unix", flag.Arg(1))
	case "securebits":
		var bits int
		if bits, err = unix.PrctlRetInt(unix.PR_GET_SECUREBITS, 0, 0, 0, 0); err == nil && bits != control.Securebits {
			t.Errorf("the securebits are %#x, not %#x", bits, control.Securebits)
		}
	case "open":
		err = openAll(flag.Arg(1))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestVerifyNamespaces leaves a namespace out. That the command is in this process's own must be seen before it runs.
func TestVerifyNamespaces(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	spec := script(t, "echo ran > marker")
	plan := mustBuild(t, spec)
	for name, flag := range map[string]uint64{"ipc": unix.CLONE_NEWIPC, "cgroup": unix.CLONE_NEWCGROUP} {
		r := &exec.Runner{Plan: plan, Tamper: func(c *steps.Program) {
			c.CloneFlags &^= flag
			for i := range c.Init { // the cgroup's is made from inside of the cgroup, where the run has one of its own
				if c.Init[i].Object == name+" namespace" {
					c.Init[i].Nr = unix.SYS_GETPID
				}
			}
		}}
		_, err := r.Run(context.Background())
		if refusal := (*Refusal)(nil); !errors.As(err, &refusal) || refusal.Code != CodeVerify || !strings.Contains(err.Error(), name+" namespace") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(spec.Workspace + "/marker"); err == nil {
			t.Fatalf("%s: the command ran", name)
		}
	}
}

// needTruncation states the need of a Landlock that knows truncate(2).
func needTruncation(t *testing.T) {
	t.Helper()
	probetest.NeedFunc(t, "landlock-abi-3", func() string {
		if kernel, err := landlock.Probe(); err != nil || kernel.ABI < 3 {
			return "it needs ABI 3"
		}
		return ""
	})
}
