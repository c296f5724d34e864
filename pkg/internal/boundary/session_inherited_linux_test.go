package boundary

import (
	"strings"
	"testing"
)

// TestSessionInheritedLimits holds that no command can secretly lower the resource limits of
// later ones, with those of the process that starts them. Its own it may lower.
func TestSessionInheritedLimits(t *testing.T) {
	l := lodged(t)
	if _, errs, status := l.sh("prlimit --pid $$ --fsize=0 && ulimit -f | grep -qx 0"); status != 0 {
		t.Fatalf("its own limits: status %d, %s", status, errs)
	}
	if _, errs, status := l.sh("echo text > file"); status != 0 {
		t.Fatalf("the next command: status %d, %s", status, errs)
	}
	l.must("run", "--session", "w", "--net", "none", "--", "prlimit", "--pid", "2", "--fsize=0")
	out, errs, status := l.sh("echo begun")
	if status != 125 || out != "" || !strings.Contains(errs, "changed the resource limits") {
		t.Errorf("after a command lowered the limits of process 2: status %d, %q, %s", status, out, errs)
	}
}
