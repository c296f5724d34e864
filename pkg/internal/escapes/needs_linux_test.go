package escapes

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/sandbox/kernel/landlock"
)

// meet states a need: a processor, a version of Landlock, what containers take away, or what package probetest knows.
func meet(t *testing.T, need string) {
	t.Helper()
	var abi int
	if n, _ := fmt.Sscanf(need, "landlock-abi-%d", &abi); n == 1 {
		probetest.NeedFunc(t, need, func() string {
			kernel, err := landlock.Probe()
			return map[bool]string{true: fmt.Sprintf("ABI %d, %v", kernel.ABI, err)}[err != nil || kernel.ABI < abi]
		})
		return
	}
	if need == "upper" {
		probetest.NeedFunc(t, need, func() string { return noUpper(t) })
		return
	}
	if need == "proc" {
		probetest.NeedFunc(t, "proc", coveredProc)
		return
	}
	if need == "unfiltered" {
		probetest.NeedFunc(t, "unfiltered", filtered)
		return
	}
	if need == "amd64" {
		probetest.NeedFunc(t, need, func() string { return map[bool]string{true: "it is " + runtime.GOARCH}[runtime.GOARCH != need] })
		return
	}
	probetest.Need(t, need)
}

// coveredProc says why the kernel mounts no whole /proc for a user namespace, "" where it does. It does not where a container engine covers parts of the
// one that is there: mount_too_revealing in fs/namespace.c. Commands then have no process in theirs.
var coveredProc = sync.OnceValue(func() string {
	out, err := exec.Command("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "true").CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%v: %s", err, strings.TrimSpace(string(out)))
	}
	return ""
})

// filtered says that a seccomp filter is around this process, as that of a container engine: it may refuse what the boundary allows, or would do.
func filtered() string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err.Error()
	}
	if !regexp.MustCompile(`(?m)^Seccomp:\s+0$`).Match(status) {
		return "a seccomp filter is around this process"
	}
	return ""
}
