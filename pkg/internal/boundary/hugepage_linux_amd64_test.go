package boundary

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestHugePages: the heap of a program that is released begins with memory that may
// have huge pages, if the kernel has them. Where the address space ends before that,
// the runtime says so.
func TestHugePages(t *testing.T) {
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	exe = filepath.Join(filepath.Dir(exe), "ethos-facts")
	cmd := exec.Command(exe, "--from", "lines")
	if line := answered(t, cmd, "ls\n"); !strings.Contains(line, `"script":"ls"`) {
		t.Fatalf("%q", line)
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	advised := regexp.MustCompile(`(?m)^[0-9a-f]+-[0-9a-f]+ rw-p .*\n(?:\w+: .*\n)*Size: +4096 kB\n(?:\w+: .*\n)*VmFlags:.* hg\b`)
	_, err = os.Stat("/sys/kernel/mm/transparent_hugepage/enabled")
	if found := advised.Find(maps); (found != nil) != (err == nil) {
		t.Errorf("%v, and the memory is\n%s", err, maps)
	} else {
		t.Logf("%s", found)
	}
	for _, limit := range []string{"100000", "500000", "unlimited"} { // KiB
		cmd := exec.Command("/bin/sh", "-c", "ulimit -v "+limit+` && exec "$0" --version`, exe)
		out, err := cmd.CombinedOutput()
		if refused := strings.HasPrefix(string(out), "fatal error: failed to reserve "); refused == (err == nil) {
			t.Errorf("%s KiB of addresses: %v: %s", limit, err, out)
		}
	}
}
