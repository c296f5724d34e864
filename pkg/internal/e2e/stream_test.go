package e2e

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// TestConstantMemory sends a hundred times more lines through the first two stages and sees no more memory, or less than
// a KiB for each line: a record has more.
func TestConstantMemory(t *testing.T) {
	probetest.Whole(t)
	s := newSession(t)
	small, large := s.stream(1_000), s.stream(100_000)
	const slack = 95 << 20 // the collector's liberty on a busy machine
	for i, stage := range []string{"ethos-facts", "ethos-decide"} {
		if large[i] > small[i]+slack {
			t.Errorf("%s: %d MiB for 1,000 lines, %d MiB for 100,000", stage, small[i]>>20, large[i]>>20)
		}
	}
}

// stream runs n lines through ethos-facts and ethos-decide and returns the peak memory of each, in bytes.
// Standard input stays open until both have been looked at.
func (s *session) stream(n int) [2]int64 {
	s.t.Helper()
	facts, decide := s.command("ethos-facts", "--from", "lines"), s.command("ethos-decide")
	in, between := s.stdin(facts), s.stdout(facts)
	decide.Stdin = between
	out := s.stdout(decide)
	s.start(facts, decide)
	go func() {
		for range n {
			if _, err := io.WriteString(in, "echo hello | wc -c\n"); err != nil {
				return // the count below tells
			}
		}
	}()
	s.countLines(out, n)
	peaks := [2]int64{s.peak(facts), s.peak(decide)}
	in.Close()
	s.wait(facts, decide)
	return peaks
}

func (s *session) countLines(r io.Reader, want int) {
	s.t.Helper()
	reader := bufio.NewReaderSize(r, 1<<20)
	for n := range want {
		if _, err := reader.ReadSlice('\n'); err != nil {
			s.t.Fatalf("%d lines went in, %d came out: %v", want, n, err)
		}
	}
}

// command is a program in the session, not yet started. Its messages go to the test's own.
func (s *session) command(name string, args ...string) *exec.Cmd {
	dir, err := bin()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.CommandContext(s.t.Context(), filepath.Join(dir, name), args...)
	cmd.Dir, cmd.Env, cmd.Stderr = s.dir, s.env, os.Stderr
	return cmd
}

func (s *session) stdin(cmd *exec.Cmd) io.WriteCloser {
	in, err := cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	return in
}

func (s *session) stdout(cmd *exec.Cmd) io.Reader {
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func (s *session) start(cmds ...*exec.Cmd) {
	s.t.Helper()
	for _, cmd := range cmds {
		if err := cmd.Start(); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *session) wait(cmds ...*exec.Cmd) {
	s.t.Helper()
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			s.t.Errorf("%s: %v", cmd, err)
		}
	}
}

// peak is the most memory a running program has held, in bytes: VmHWM in proc_pid_status(5). The rusage of a child
// would not do: it begins with what its parent held when it forked.
func (s *session) peak(cmd *exec.Cmd) int64 {
	s.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "\nVmHWM:")
	var kilobytes int64
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		s.t.Fatalf("VmHWM of %s: %v in %s", cmd, err, status)
	}
	return kilobytes << 10
}

// TestReaderGoesAway: a filter whose reader ends, ends too, without a word.
func TestReaderGoesAway(t *testing.T) {
	s := newSession(t)
	s.write("commands", strings.Repeat("echo hello\n", 20_000))
	for _, pipe := range []string{
		"ethos-facts --from lines < commands | head -n 1",
		"ethos-facts --from lines < commands | ethos-decide | head -n 1",
	} {
		o := s.shell(pipe)
		if len(o.lines()) != 1 || o.stderr != "" {
			t.Errorf("%v", o)
		}
	}
}

// TestLinesFlowBeforeTheEnd: a stage does not wait for the end of its input to say what it knows.
func TestLinesFlowBeforeTheEnd(t *testing.T) {
	s := newSession(t)
	cmd := s.command("ethos-facts", "--from", "lines")
	in, out := s.stdin(cmd), s.stdout(cmd)
	s.start(cmd)
	reader := bufio.NewReader(out)
	for i := range 3 {
		fmt.Fprintf(in, "echo %d\n", i)
		if line, err := reader.ReadString('\n'); err != nil || !strings.Contains(line, fmt.Sprintf("echo %d", i)) {
			t.Fatalf("line %d: %v %s", i, err, line)
		}
	}
	in.Close()
	s.wait(cmd)
}
