package control

import (
	"fmt"
	"path/filepath"
	"strings"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/cgroup"
	"ethos/pkg/sandbox/plan"
)

func ofCgroup(l plan.Limits) plan.Limits {
	return plan.Limits{MemoryBytes: l.MemoryBytes, CPUPercent: l.CPUPercent, Pids: l.Pids}
}

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

func usageOf(u cgroup.Usage) record.Usage {
	return record.Usage{PeakMemoryBytes: u.MemoryPeak, CPUSeconds: u.CPU.Seconds(), PeakPids: u.PidsPeak,
		ReadBytes: u.ReadBytes, WriteBytes: u.WriteBytes, MeasuredBy: "cgroup"}
}
