package control

import (
	"fmt"
	"path/filepath"
	"strings"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/cgroup"
	"ethos/pkg/sandbox/plan"
)

// ofCgroup returns the limits that a cgroup enforces.
func ofCgroup(l plan.Limits) plan.Limits {
	return plan.Limits{MemoryBytes: l.MemoryBytes, CPUPercent: l.CPUPercent, Pids: l.Pids}
}

// verifyCgroup compares the cgroup of a process with a leaf.
func verifyCgroup(pid int, leaf *cgroup.Leaf) error {
	text, err := readProc(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return Unreadable(err)
	}
	name := "/" + filepath.Base(leaf.Path)
	for line := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok && strings.HasSuffix(path, name) {
			return nil
		}
	}
	return fmt.Errorf("cgroup: the command is in %q, not in %s", strings.TrimSpace(string(text)), leaf.Path)
}

// usageOf returns what a cgroup has measured in the form of a record.
func usageOf(u cgroup.Usage) record.Usage {
	return record.Usage{PeakMemoryBytes: u.MemoryPeak, CPUSeconds: u.CPU.Seconds(), PeakPids: u.PidsPeak,
		ReadBytes: u.ReadBytes, WriteBytes: u.WriteBytes, MeasuredBy: "cgroup"}
}
