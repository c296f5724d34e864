package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestTakesLines: a line may go to a file, a pipe and a terminal in its usual
// mode; not to a terminal that draws a screen or stops background writers.
func TestTakesLines(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if !TakesLines(w) || !TakesLines(&bytes.Buffer{}) {
		t.Error("a pipe or a buffer takes no lines")
	}
	terminal := newTerminal(t)
	for _, test := range []struct {
		name string
		flag uint32
		on   bool
		want bool
	}{
		{"canonical", unix.ICANON, true, true},
		{"raw", unix.ICANON, false, false},
		{"back", unix.ICANON, true, true},
		{"stops background writers", unix.TOSTOP, true, false},
	} {
		settings, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		settings.Lflag &^= test.flag
		if test.on {
			settings.Lflag |= test.flag
		}
		if err := unix.IoctlSetTermios(int(terminal.Fd()), unix.TCSETS, settings); err != nil {
			t.Fatal(err)
		}
		if got := TakesLines(terminal); got != test.want {
			t.Errorf("%s: %t, want %t", test.name, got, test.want)
		}
	}
}

// TestWaits holds that a filter whose input is typed says what it waits for, and
// that no other does.
func TestWaits(t *testing.T) {
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		in   io.Reader
		said bool
	}{{newTerminal(t), true}, {file, false}, {strings.NewReader(""), false}} {
		var said strings.Builder
		(&System{Name: "ethos-x", Stdin: c.in, Stderr: &said}).Waits("records", "make them")
		if got := strings.Contains(said.String(), "reading records from the terminal, until Ctrl-D\nethos-x: hint: make them\n"); got != c.said || !c.said && said.Len() > 0 {
			t.Errorf("%T: %q", c.in, said.String())
		}
	}
}

// TestLostOutput tells the null device that stands in the place of a closed
// stream from the one that was asked for.
func TestLostOutput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	for _, c := range []struct {
		name string
		flag int
		kind Kind
		lost bool
	}{{os.DevNull, os.O_RDWR, Filter, true}, {os.DevNull, os.O_RDWR, Runner, false}, {os.DevNull, os.O_WRONLY, Filter, false}, {file, os.O_RDWR | os.O_CREATE, Filter, false}} {
		out, err := os.OpenFile(c.name, c.flag, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		var said strings.Builder
		(&System{Name: "ethos-x", Stdout: out, Stderr: &said}).warnLost(c.kind)
		if (said.Len() > 0) != c.lost {
			t.Errorf("%+v: %q", c, said.String())
		}
	}
}

// TestLostPages: so does what prints a page.
func TestLostPages(t *testing.T) {
	for _, flag := range []string{"--schema", "--man", "--completion=bash"} {
		out, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		var said strings.Builder
		sys := &System{Name: "ethos-x", Stdout: out, Stderr: &said, Stdin: strings.NewReader(""), Now: time.Now}
		if status := (Program{Name: "ethos-x", Commands: &struct{}{}}).Run(t.Context(), sys, []string{flag}); status != OK || !strings.Contains(said.String(), "standard output is closed") {
			t.Errorf("%s: %d %q", flag, status, said.String())
		}
	}
}

// TestPlainer: what a command line lacks is said without kong's tokens.
func TestPlainer(t *testing.T) {
	for message, want := range map[string]string{
		`--mode: expected string value but got "EOL" (<EOL>)`:                                 "--mode needs a value",
		`--memory: expected value value but got "--" (long flag); perhaps try --memory="--"?`: `--memory needs a value, but the next word is "--"`,
		`--for: expected duration but got "3d": time: unknown unit "d" in duration "3d"`:      `--for: "3d" is not a time such as 90s, 10m or 1h30m`,
		`--pids: expected a valid 64 bit int but got "x"`:                                     `--pids: "x" is not a whole number`,
		`expected "<argv>"`:                           "no command was given",
		`expected "<name> <port>"`:                    "missing: <name> <port>",
		`--mode must be one of "","plan" but got "x"`: `--mode must be one of "plan" but got "x"`,
		"unknown flag --x":                            "unknown flag --x",
	} {
		if got := plainer(message); got != want {
			t.Errorf("%s: %q, want %q", message, got, want)
		}
	}
}

// newTerminal is the command's side of a new pseudo-terminal: pty(7).
func newTerminal(t *testing.T) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return slave
}
