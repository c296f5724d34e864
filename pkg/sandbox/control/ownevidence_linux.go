package control

import (
	"fmt"
	"os"
	"strings"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/limits"
	"ethos/pkg/sandbox/plan"
)

// Denials returns the limits that had an effect on the command: each with what was limited,
// what happened, and the flag that raises it. The proposed value is twice the limit, since
// nobody knows what the command would have used. The limit of the session, which the command
// may meet as well, has no remedy here.
func (o *Own) Denials() (list []record.Denial) {
	add := func(what, reason, remedy string) {
		list = append(list, record.Denial{Layer: o.layer(), Kind: record.KindLimit, What: what, Reason: reason, Remedy: remedy})
	}
	memory := o.limits.MemoryBytes
	processes, more := fmt.Sprintf("%d processes", o.limits.Pids), fmt.Sprintf("--pids %d", 2*o.limits.Pids)
	switch over := o.over.Load(); {
	case o.Killed() != "" && memory > 0:
		add(fmt.Sprintf("%d bytes", memory), "the command was killed at its memory limit", fmt.Sprintf("--memory %dM", max(1, 2*memory>>20)))
	case o.Killed() != "":
		add(fmt.Sprintf("%d bytes", o.job.Plan.Limits.MemoryBytes), "the command was killed at the memory limit of its session", "")
	case over != nil:
		add(processes, "the command was killed: it had more processes and threads", more)
	}
	if n := o.usage.PidsDenied; n > 0 && o.limits.Pids > 0 {
		add(processes, fmt.Sprintf("the limit kept %d processes or threads from being started", n), more)
	}
	return list
}

// Unheld returns why the limit of processor time is not in force, else "".
func (o *Own) Unheld() string {
	if o.limits.CPUPercent == 0 || o.lack == nil {
		return ""
	}
	return o.lack.Error()
}

// layer names the mechanism, as the controls in the evidence do.
func (o *Own) layer() string {
	if o.leaf != nil {
		return "cgroup"
	}
	return "rlimits"
}

// Evidence replaces what the evidence of the session says about limits and usage by what is
// known of the command.
func (o *Own) Evidence(e *record.Sandbox) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.leaf != nil {
		e.Usage = usageOf(o.usage)
	} else if o.peak.Processes > 0 {
		e.Usage = record.Usage{PeakMemoryBytes: o.peak.Bytes, PeakPids: int64(o.peak.Threads), MeasuredBy: "watch"}
	}
	if !o.limited() {
		return
	}
	e.Controls = append([]record.Control{}, e.Controls...)
	for i := range e.Controls {
		switch line := &e.Controls[i]; line.Name {
		case "cgroup":
			o.ofCgroup(line)
			e.CgroupRequested, e.CgroupEnabled = true, line.State == Enforced
		case "rlimits":
			o.ofRlimits(line)
		}
	}
}

// ofCgroup changes the line of the cgroup: what is requested is the limits of the command,
// within those of the session.
func (o *Own) ofCgroup(line *record.Control) {
	asked := ofCgroup(o.limits).Text() + " of the command"
	within := ""
	if line.Requested != "" && line.Requested != (plan.Limits{}).Text() {
		within = ", within " + line.Requested + " of the session"
	}
	line.Requested, line.State, line.Reason, line.Enforced = asked+within, Enforced, "", asked+", in a separate child cgroup"+within
	if o.leaf == nil {
		line.Enforced = "resource limits, and a sampled watch over the processes of the command"
	}
	if o.lack != nil {
		line.State, line.Reason = Degraded, o.lack.Error()
	}
}

// ofRlimits adds the resource limits of the command. RLIMIT_RTTIME, which is its mark and
// limits nothing, is left out.
func (o *Own) ofRlimits(line *record.Control) {
	var names []string
	for _, l := range o.set {
		if l.Resource != limits.RealTime {
			names = append(names, fmt.Sprintf("%s=%d", strings.TrimPrefix(l.Resource.String(), "RLIMIT_"), l.Soft))
		}
	}
	if len(names) > 0 {
		line.Enforced += "; of the command " + strings.Join(names, " ")
	}
	if o.leaf == nil && o.limits.Pids > 0 && line.State == Enforced && !limits.NprocHolds(os.Geteuid()) {
		line.State, line.Reason = Degraded, noNproc
	}
	if o.watchErr != nil {
		line.State, line.Reason = Degraded, o.watchErr.Error()
	}
}

// noNproc is why the number of processes is not bounded.
const noNproc = "the kernel does not apply RLIMIT_NPROC to root: without a cgroup, the number of processes is not bounded"
