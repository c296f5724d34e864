package report

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
)

// pty opens a pseudo-terminal of the given width; pty(7), ioctl_tty(2).
func pty(t testing.TB, columns uint16) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	if err := unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// onTerminal runs show with a terminal of that width and environment, and returns all that was sent to it.
func onTerminal(t testing.TB, columns uint16, environ map[string]string, show func(out *os.File, term Terminal)) string {
	t.Helper()
	master, slave := pty(t, columns)
	var got bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(&got, master) // ends with EIO when the slave closes
	}()
	show(slave, DetectTerminal(slave, func(name string) string { return environ[name] }))
	slave.Close()
	<-done
	return strings.ReplaceAll(got.String(), "\r\n", "\n")
}

var (
	colorExpr = regexp.MustCompile("\x1b\\[[0-9;]*m")
	eraseExpr = regexp.MustCompile("\x1b\\[([0-9]+)A\r\x1b\\[J")
)

// screen does what a terminal does with the two sequences that are used: go up and erase. It fails on any other.
func screen(t testing.TB, sent string) string {
	t.Helper()
	var lines []string
	for sent != "" {
		if m := eraseExpr.FindStringSubmatchIndex(sent); m != nil && m[0] == 0 {
			up, _ := strconv.Atoi(sent[m[2]:m[3]])
			if up > len(lines) {
				t.Fatalf("goes %d up from line %d", up, len(lines))
			}
			lines, sent = lines[:len(lines)-up], sent[m[1]:]
			continue
		}
		line, rest, _ := strings.Cut(sent, "\n")
		if strings.Contains(colorExpr.ReplaceAllString(line, ""), "\x1b") {
			t.Fatalf("unknown sequence in %q", line)
		}
		lines, sent = append(lines, line), rest
	}
	return strings.Join(lines, "\n") + "\n"
}

// showAll plays a run with live output between the actions.
func showAll(t testing.TB) func(*os.File, Terminal) {
	return func(out *os.File, term Terminal) {
		clock := testNow()
		h := NewHuman(out, term, func() time.Time { return clock })
		tick := func() {
			clock = clock.Add(time.Second)
			if err := h.Tick(); err != nil {
				t.Error(err)
			}
		}
		tick()
		for _, e := range sample(t) {
			if err := h.Output(e.Line.ID(), record.Output{Stream: "stdout", Action: &e.Action}); err != nil {
				t.Error(err)
			}
			tick()
			for k := range 3 {
				if err := h.Output(e.Line.ID(), record.Output{Stream: "stdout", Text: fmt.Sprintf("step %d 世界 \x1b[2J%s\n", k, strings.Repeat("x", 300))}); err != nil {
					t.Error(err)
				}
				h.Output("other", record.Output{Stream: "stdout", Text: "another one runs\n"})
				tick()
			}
			if err := h.Action(e); err != nil {
				t.Error(err)
			}
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestTerminal(t *testing.T) {
	for _, columns := range []uint16{80, 200} {
		t.Run(strconv.Itoa(int(columns)), func(t *testing.T) {
			sent := onTerminal(t, columns, map[string]string{"TERM": "xterm"}, showAll(t))
			if !strings.Contains(sent, "running   3.0 s go vet ./...  │ step 1") {
				t.Error("a live line does not name its action, with the time and the last line of its output")
			}
			if !strings.Contains(sent, "another one runs") || !eraseExpr.MatchString(sent) {
				t.Error("no live lines were drawn")
			}
			if !colorExpr.MatchString(sent) {
				t.Error("no colours")
			}
			for line := range strings.Lines(eraseExpr.ReplaceAllString(colorExpr.ReplaceAllString(sent, ""), "")) {
				if width(strings.TrimSuffix(line, "\n")) > int(columns) {
					t.Errorf("%d cells: %q", width(line), line)
				}
			}
			last := colorExpr.ReplaceAllString(screen(t, sent), "")
			if strings.Contains(last, "another one runs") {
				t.Error("a live line stays on the screen")
			}
			golden(t, fmt.Sprintf("terminal-%d.txt", columns), last)
		})
	}
}

// TestTerminalCounts holds that the live lines say how many actions run and how
// many wait for them, and that both numbers go down again.
func TestTerminalCounts(t *testing.T) {
	sent := onTerminal(t, 80, map[string]string{"TERM": "xterm"}, func(out *os.File, term Terminal) {
		h := NewHuman(out, term, testNow)
		at := func(step func()) {
			step()
			if err := h.Tick(); err != nil {
				t.Error(err)
			}
			fmt.Fprintln(out, "--")
		}
		action := argv("make")
		start := func(id string) { h.Output(id, record.Output{Stream: "stdout", Action: &action}) }
		at(func() {
			start("a")
			start("b")
			h.Output("c", record.Output{Queued: true})
			h.Output("d", record.Output{Queued: true})
		})
		at(func() { h.live.done("a"); start("c") })
		at(func() { h.live.done("b"); h.live.done("d") })
	})
	got := regexp.MustCompile(`[0-9]+ running.*|--`).FindAllString(sent, -1)
	if text := strings.Join(got, "|"); text != "2 running, 2 waiting|--|2 running, 1 waiting|--|--" {
		t.Errorf("%s", text)
	}
}

func TestTerminalWithoutColor(t *testing.T) {
	sent := onTerminal(t, 80, map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, showAll(t))
	if colorExpr.MatchString(sent) {
		t.Error("colours in spite of NO_COLOR")
	}
	if !eraseExpr.MatchString(sent) {
		t.Error("NO_COLOR took the live lines too")
	}
}

func TestDumbTerminal(t *testing.T) {
	for _, term := range []string{"dumb", ""} {
		sent := onTerminal(t, 80, map[string]string{"TERM": term}, showAll(t))
		if strings.Contains(sent, "\x1b") {
			t.Errorf("TERM=%q gets control sequences", term)
		}
	}
}

func TestFileIsNoTerminal(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if term := DetectTerminal(f, func(string) string { return "xterm" }); term.Live || term.Color || term.Width != nil {
		t.Errorf("%+v", term)
	}
}
