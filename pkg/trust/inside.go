package trust

import (
	"io/fs"
	"strings"
)

// confinedProcess are lines of /proc/PID/status (proc_pid_status(5)) of every process in the boundary of ethos-sandbox.
var confinedProcess = []string{"\nCapBnd:\t0000000000000000\n", "\nNoNewPrivs:\t1\n", "\nSeccomp:\t2\n"}

// Inside reports whether this process runs in the boundary of ethos-sandbox already, as then does the agent whose hook it is, and every call of its
// shell: there is no boundary within the boundary. A command cannot pretend it, for the hook is a child of the agent.
func Inside(proc fs.FS) bool {
	first, err := fs.ReadFile(proc, "1/comm")
	if err != nil || strings.TrimSpace(string(first)) != "ethos-init" {
		return false
	}
	own, err := fs.ReadFile(proc, "self/status")
	if err != nil {
		return false
	}
	for _, line := range confinedProcess {
		if !strings.Contains(string(own), line) {
			return false
		}
	}
	return true
}
