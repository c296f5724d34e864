package trace

import (
	"bufio"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func writerCommand(t testing.TB, dir string, lines int) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "TRACE_TEST_WRITER="+dir, "TRACE_TEST_LINES="+strconv.Itoa(lines))
	cmd.Stderr = os.Stderr
	return cmd
}

// TestManyWriters lets 64 processes append at once: nothing is lost, nothing is mixed, and the chain holds.
func TestManyWriters(t *testing.T) {
	const writers, lines = 64, 20
	dir := filepath.Join(t.TempDir(), "store")
	var running []*exec.Cmd
	for range writers {
		cmd := writerCommand(t, dir, lines)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	seen := map[string]int{}
	for _, id := range ids(t, dir) {
		seen[id]++
	}
	for _, cmd := range running {
		for i := range lines {
			if id := strconv.Itoa(cmd.Process.Pid) + "-" + strconv.Itoa(i); seen[id] != 1 {
				t.Errorf("line %s is there %d times", id, seen[id])
			}
		}
	}
	if v := verify(t, dir); len(v.Faults) != 0 || v.Lines != writers*lines {
		t.Errorf("verification = %+v", v)
	}
}

// TestKilledWriters kills writers at random points, 500 times in one store: every line that a writer was told is kept, is kept.
func TestKilledWriters(t *testing.T) {
	kills := 500
	if testing.Short() {
		kills = 50
	}
	dir := filepath.Join(t.TempDir(), "store")
	told := map[string]bool{}
	for range kills {
		for _, id := range killed(t, dir) {
			told[id] = true
		}
	}
	fill(t, dir, time.Now(), "last")
	kept := map[string]bool{}
	for _, id := range ids(t, dir) {
		if kept[id] {
			t.Errorf("%s is kept twice", id)
		}
		kept[id] = true
	}
	for id := range told {
		if !kept[id] {
			t.Errorf("%s is lost", id)
		}
	}
	if v := verify(t, dir); len(v.Faults) != 0 {
		t.Errorf("faults = %+v", v.Faults)
	}
	if len(told) < kills {
		t.Errorf("only %d lines were told in %d runs: the test does not reach the writers", len(told), kills)
	}
}

// killed runs a writer, kills it a random moment after its first line, and returns what it was told.
func killed(t testing.TB, dir string) (told []string) {
	cmd := writerCommand(t, dir, 1<<30)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(out)
	for {
		id, err := in.ReadString('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(told) == 0 {
			time.AfterFunc(time.Duration(rand.IntN(1500))*time.Microsecond, func() { cmd.Process.Kill() })
		}
		told = append(told, strings.TrimSpace(id))
	}
	cmd.Wait() // it was killed
	return told
}

// TestVerifyWhileWriting holds that a store is whole at every moment.
func TestVerifyWhileWriting(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	fill(t, dir, time.Now(), "first")
	cmd := writerCommand(t, dir, 2000)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for running := true; running; {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			running = false
		default:
		}
		if v := verify(t, dir); len(v.Faults) != 0 {
			t.Fatalf("faults = %+v", v.Faults)
		}
	}
}

// TestFullDisk holds that a line which does not fit leaves nothing behind.
func TestFullDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	cmd := writerCommand(t, dir, 0)
	cmd.Env = append(cmd.Env, "TRACE_TEST_FULL="+dir)
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	wantWhole(t, dir, "before", "after")
}
