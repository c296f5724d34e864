package trace

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/record"
)

// TestMain lets the test binary stand in for a writer: another process is the only honest one to kill, or to compete with.
func TestMain(m *testing.M) {
	if dir := os.Getenv("TRACE_TEST_FULL"); dir != "" {
		if err := fullDisk(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if dir := os.Getenv("TRACE_TEST_WRITER"); dir != "" {
		lines, _ := strconv.Atoi(os.Getenv("TRACE_TEST_LINES"))
		if err := writer(dir, lines); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writer appends lines and says each id once its line is kept.
func writer(dir string, lines int) error {
	s, err := Open(os.Getenv, dir)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	for i := range lines {
		l := testLine(fmt.Sprintf("%d-%d", os.Getpid(), i))
		if err := s.Append(l); err != nil {
			return err
		}
		fmt.Fprintln(out, l.ID())
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return s.Close()
}

func testLine(id string) *record.Line {
	action := record.Action{Kind: record.KindExec, Argv: []string{"echo", id}, Cwd: "/w", Workspace: "/w"}
	return record.NewLine(id, time.Unix(1_700_000_000, 0), action, record.Actor{Mode: record.ModeSafe})
}

// fullDisk appends until a limit of the file size ends a write in its middle, and goes on when there is room again: setrlimit(2), RLIMIT_FSIZE.
func fullDisk(dir string) error {
	signal.Ignore(syscall.SIGXFSZ)
	s, err := Open(os.Getenv, dir)
	if err != nil {
		return err
	}
	if err := s.Append(testLine("before")); err != nil {
		return err
	}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 700, Max: old.Max}); err != nil {
		return err
	}
	for range 3 {
		if err := s.Append(testLine(strings.Repeat("x", 100))); err == nil {
			return errors.New("a line past the limit was kept")
		}
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	return errors.Join(s.Append(testLine("after")), s.Close())
}
