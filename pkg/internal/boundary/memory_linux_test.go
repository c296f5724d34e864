package boundary

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// initMost is how much memory init may hold, with every page that it shares with ethos-sandbox counted in full.
const initMost = 8 << 20

// TestInitMemory: init is a copy of a thread of a Go program, whose pages it shares until one of the two writes to them. VmRSS counts them all, so that what is init's
// alone is less.
func TestInitMemory(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	dir := space(t)
	cmd := sandboxed(t, dir, "run", "--", "sh", "-c", "echo ready; read line")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { stdin.Close(); cmd.Wait() }()
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	init := childOf(t, cmd.Process.Pid)
	resident := field(t, "/proc/"+init+"/status", "VmRSS:")
	t.Logf("init: resident %d KiB", resident>>10)
	if _, err := os.ReadFile("/proc/" + init + "/smaps_rollup"); err == nil { // the kernel shows it to root
		t.Logf("of which private and written %d KiB, in proportion %d KiB", field(t, "/proc/"+init+"/smaps_rollup", "Private_Dirty:")>>10, field(t, "/proc/"+init+"/smaps_rollup", "Pss:")>>10)
	}
	if resident == 0 || resident > initMost {
		t.Errorf("init holds %d bytes, at most %d are wanted", resident, initMost)
	}
}

// childOf is the child of a process that any of its threads made.
func childOf(t *testing.T, pid int) string {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && len(strings.Fields(string(text))) == 1 {
			return strings.TrimSpace(string(text))
		}
	}
	t.Fatal("ethos-sandbox has no child")
	return ""
}

// field is a number of kilobytes in a file of proc(5), in bytes.
func field(t *testing.T, file, name string) int64 {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut("\n"+string(text), "\n"+name)
	words := strings.Fields(rest)
	if !ok || len(words) == 0 {
		t.Fatalf("%s has no %s", file, name)
	}
	n, err := strconv.ParseInt(words[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}
