package cgroup

import (
	"fmt"
	"strconv"
	"strings"
)

// Limits are the limits of one leaf. Zero means no limit. Negative numbers are
// like zero. Whoever is above the leaf may have lower limits, which then hold:
// limits can be overcommitted.
type Limits struct {
	MemoryBytes int64
	CPUPercent  int64 // of one processor; 250 is two and a half
	Pids        int64
}

// Controllers lists the controllers that the limits need, with the names in
// cgroup.controllers. They always include memory and pids, which are also used
// for measurement.
func (l Limits) Controllers() []string {
	if l.CPUPercent > 0 {
		return []string{"memory", "pids", "cpu"}
	}
	return []string{"memory", "pids"}
}

// setting is one interface file and the value to write to it.
type setting struct {
	file, value string
	readBack    string // what the file must contain afterwards
	// optional says that a kernel may lack the file; see noSwap.
	optional bool
}

// cpuPeriod is the kernel's default period of cpu.max, in microseconds. A
// command that has used up its quota waits for the next period.
const cpuPeriod = 100000

// killTogether makes the kernel kill all processes of a leaf or none if memory
// runs out. Without it, the kernel kills one process, and the command goes on
// without it. A process with oom_score_adj -1000 is spared all the same:
// cgroup-v2.rst.
var killTogether = setting{file: "memory.oom.group", value: "1", readBack: "1"}

// settings returns the settings for the limits, in the order in which they are
// written. page is the size of a memory page in bytes; the kernel rounds
// memory.max down to a multiple of it. memory.max alone bounds what is in
// memory, and not what the kernel moves to swap, so memory.swap.max is 0.
// pids.max counts threads; beyond it, fork(2) and clone(2) fail with EAGAIN.
// cpu.max is quota and period in microseconds, of all processors together.
func (l Limits) settings(page int64) []setting {
	var list []setting
	if l.MemoryBytes > 0 {
		bytes := strconv.FormatInt(max(l.MemoryBytes/page, 1)*page, 10)
		list = append(list, setting{file: "memory.max", value: bytes, readBack: bytes},
			setting{file: "memory.swap.max", value: "0", readBack: "0", optional: true})
	}
	if l.Pids > 0 {
		pids := strconv.FormatInt(l.Pids, 10)
		list = append(list, setting{file: "pids.max", value: pids, readBack: pids})
	}
	if l.CPUPercent > 0 {
		quota := fmt.Sprintf("%d %d", max(l.CPUPercent*cpuPeriod/100, minQuota), cpuPeriod)
		list = append(list, setting{file: "cpu.max", value: quota, readBack: quota})
	}
	return list
}

// minQuota is the smallest quota that the kernel accepts, in microseconds per
// period (kernel/sched/core.c, min_cfs_quota_period). The kernel answers EINVAL
// to a smaller one.
const minQuota = 1000

// apply writes the settings to a cgroup and reads each back.
func apply(files Files, dir string, settings []setting) error {
	for _, s := range settings {
		if err := s.apply(files, dir); err != nil {
			return err
		}
	}
	return nil
}

// The kernel may round a value or accept a part of it, which only reading it
// back shows. ENOENT means that the controller is not enabled for this cgroup.
func (s setting) apply(files Files, dir string) error {
	path := dir + "/" + s.file
	if err := files.WriteFile(path, s.value); err != nil {
		if s.optional && missing(err) {
			return noSwap(files, path)
		}
		return fmt.Errorf("cgroup: write %s to %s: %w", s.value, path, err)
	}
	text, err := files.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cgroup: read back %s: %w", path, err)
	}
	if got := strings.TrimSpace(string(text)); got != s.readBack {
		return fmt.Errorf("cgroup: %s holds %q after %q was written", path, got, s.value)
	}
	return nil
}

// noSwap accepts that memory.swap.max is missing, in a kernel without swap
// accounting, if the machine has no swap. /proc/swaps begins with a heading, so
// it has one line more than there are areas.
func noSwap(files Files, path string) error {
	text, err := files.ReadFile("/proc/swaps")
	if missing(err) {
		return nil // a kernel without CONFIG_SWAP
	}
	if err != nil {
		return fmt.Errorf("cgroup: %s is missing, and whether there is swap cannot be read: %w", path, err)
	}
	if lines := strings.Count(strings.TrimSpace(string(text)), "\n"); lines > 0 {
		return fmt.Errorf("cgroup: %s is missing while there is swap; boot with swapaccount=1", path)
	}
	return nil
}
