package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/sandbox/kernel/landlock"
)

// TestStreamsByName: a stream that is a file of the host can be opened anew as what it is, and as nothing more. That is Landlock's to hold.
func TestStreamsByName(t *testing.T) {
	probetest.NeedFunc(t, "landlock", func() string {
		if _, err := landlock.Probe(); err != nil {
			return err.Error()
		}
		return ""
	})
	twice(t, func(t *testing.T) {
		outside := t.TempDir()
		in, out := filepath.Join(outside, "in"), filepath.Join(outside, "out")
		write(t, in, "given\n")
		spec := script(t, `cat /dev/stdin; cat <&0; echo said >>/dev/stdout
			echo x 2>/dev/null >/dev/stdin && echo wrote to stdin
			cat /dev/stdout 2>/dev/null && echo read from stdout
			cat `+in+` 2>/dev/null && echo found the file itself
			echo null </dev/null >/dev/null; cat /dev/stdin </dev/null; echo end`)
		spec.CloseStdin = false
		stdin, err := os.Open(in)
		if err != nil {
			t.Fatal(err)
		}
		defer stdin.Close()
		stdout, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer stdout.Close()
		if o, err := Run(context.Background(), mustBuild(t, spec), IO{Stdin: stdin, Stdout: stdout}); err != nil || o.ExitCode != 0 {
			t.Fatalf("%v: exit %d", err, o.ExitCode)
		}
		if got := readFile(t, out); got != "given\ngiven\nsaid\nend\n" {
			t.Errorf("stdout has %q", got)
		}
		if got := readFile(t, in); got != "given\n" {
			t.Errorf("stdin has %q", got)
		}
	})
}

// TestStreamInItsPlace: a stream that has its number already is the command's, also when the descriptor closes on exec; and a free standard descriptor is no cgroup.
func TestStreamInItsPlace(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	in := filepath.Join(t.TempDir(), "in")
	write(t, in, "given\n")
	if _, err := unix.FcntlInt(0, unix.F_GETFD, 0); err != nil {
		null, err := unix.Open(os.DevNull, unix.O_RDWR, 0) // the lowest number that is free
		if t.Logf("descriptor 0 was not open; %d is now: %v", null, err); null != 0 {
			t.FailNow()
		}
	}
	stdin, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(stdin)
	defer unix.Dup3(stdin, 0, 0)
	file, err := unix.Open(in, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(file)
	if err := unix.Dup3(file, 0, unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	spec := script(t, "cat > copy")
	spec.CloseStdin = false
	if o, err := Run(t.Context(), mustBuild(t, spec), IO{Stdin: os.Stdin}); err != nil || o.ExitCode != 0 || readFile(t, spec.Workspace+"/copy") != "given\n" {
		t.Errorf("%v: exit %d, %q", err, o.ExitCode, readFile(t, spec.Workspace+"/copy"))
	}
	if err := unix.Close(0); err != nil {
		t.Fatal(err)
	}
	if r := execute(t, script(t, "echo ran")); r.err != nil || r.Stdout.Text != "ran\n" {
		t.Errorf("%v, %q", r.err, r.Stdout.Text)
	}
}
