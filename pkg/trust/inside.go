package trust

import (
	"io/fs"
	"os"
	"slices"
	"strings"

	"ethos/pkg/lazy"
)

// confinedProcess are lines of /proc/PID/status that every process in the boundary of ethos-sandbox
// has: see proc_pid_status(5).
var confinedProcess = []string{"\nCapBnd:\t0000000000000000\n", "\nNoNewPrivs:\t1\n", "\nSeccomp:\t2\n"}

// Inside reports whether this process already runs in the boundary of ethos-sandbox. The agent
// whose hook this is then runs there too, and so does every call of its shell, because boundaries
// do not nest. A command cannot fake this, because the hook is a child of the agent. The answer
// holds for the life of the process, so it is determined once.
func Inside() bool { return inside.Get() }

var inside = lazy.Value[bool]{Make: func() bool { return !mayGain() && confinedBy(os.DirFS("/proc")) }}

func confinedBy(proc fs.FS) bool {
	first, err := fs.ReadFile(proc, "1/comm")
	if err != nil || strings.TrimSpace(string(first)) != "ethos-init" {
		return false
	}
	own, err := fs.ReadFile(proc, "self/status")
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(confinedProcess, func(line string) bool { return !strings.Contains(string(own), line) })
}
