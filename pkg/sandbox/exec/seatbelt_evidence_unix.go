//go:build unix

package exec

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/plan"
)

// evidence returns what was requested and what is known. A profile is known to confine the probe;
// of the command itself nothing is read back, so no line about the profile says enforced.
func (r *seatbeltRun) evidence(failure error) record.Sandbox {
	e := plan.Requested(r.plan)
	e.SeccompProfile = ""
	e.Controls = r.lines()
	memory := int64(r.usage.Maxrss) // getrusage(2): bytes on macOS, kibibytes on Linux
	if r.system != "darwin" {
		memory <<= 10
	}
	cpu := time.Duration(r.usage.Utime.Nano() + r.usage.Stime.Nano())
	e.Usage = record.Usage{PeakMemoryBytes: memory, CPUSeconds: cpu.Seconds(), MeasuredBy: "rusage"}
	if failure != nil {
		e.Denied, e.Reason = true, failure.Error()
	}
	return e
}

// lackingInSeatbelt is why a control of other backends is absent.
const lackingInSeatbelt = "not isolated: the backend is " + plan.Seatbelt

// lines returns a line for every control, in the order of the evidence, and one for the profile.
func (r *seatbeltRun) lines() []record.Control {
	l := &r.plan.Limits
	limits := fmt.Sprintf("core files, %d open files", r.openFiles())
	known := map[string]record.Control{
		"userns": absent("a user namespace of its own"), "mount": absent("a root of its own"), "pid": absent("a PID namespace of its own"), "ipc": absent("an IPC namespace of its own"),
		"privileges": absent("no capability"), "seccomp": absent(r.plan.SeccompText()), "landlock": absent("the paths"),
		"network":      r.byProfile(r.plan.Network, r.plan.Network != "host"),
		"ports":        r.byProfile(portsText(r.plan), r.plan.Ports != nil),
		"unix_sockets": r.byProfile("connect(2) to socket files", true),
		"environment":  r.set(fmt.Sprintf("%d variables", len(r.plan.Env))),
		"rlimits":      r.set(limits),
	}
	if l.MemoryBytes > 0 || l.CPUPercent > 0 || l.Pids > 0 {
		known["cgroup"] = record.Control{Requested: l.Text(), State: control.Absent, Reason: "memory, processors and processes are not limited: macOS has no cgroups"}
	}
	if l.Timeout > 0 {
		known["timeout"] = r.lesser(l.Timeout.String(), "the command's process group ends; a process that has left it goes on, under the profile")
	}
	if r.io.Captured && l.OutputBytes > 0 {
		text := fmt.Sprintf("%d bytes", l.OutputBytes)
		known["output"] = record.Control{Requested: text, Enforced: text, State: control.Enforced}
	}
	var lines []record.Control
	for _, name := range record.Controls() {
		line, ok := known[name]
		if line.Name = name; !ok {
			line.State = control.NotWanted
		}
		lines = append(lines, line)
	}
	profile := r.byProfile(fmt.Sprintf("%d paths", len(r.plan.Paths)), true)
	profile.Name = plan.Seatbelt
	return append(lines, profile)
}

func portsText(p *plan.Plan) string {
	if p.Ports == nil {
		return ""
	}
	return p.Ports.String()
}

func absent(asked string) record.Control {
	return record.Control{Requested: asked, State: control.Absent, Reason: lackingInSeatbelt}
}

// byProfile is the line of something that the profile requests.
func (r *seatbeltRun) byProfile(asked string, wanted bool) record.Control {
	if !wanted {
		return record.Control{State: control.NotWanted}
	}
	return r.lesser(asked, "the profile says so, and a probe under it could neither read nor write a file that is not granted; of the command itself nothing was read back")
}

// lesser is the line of something that was done and is less than what is asked for.
func (r *seatbeltRun) lesser(asked, reason string) record.Control {
	line := r.set(asked)
	if line.State == control.Enforced {
		line.State, line.Enforced, line.Reason = control.Degraded, "", reason
	}
	return line
}

// set is the line of something that the command was started with.
func (r *seatbeltRun) set(asked string) record.Control {
	if !r.verified {
		return record.Control{Requested: asked, State: control.Absent, Reason: "not verified: nothing ran"}
	}
	return record.Control{Requested: asked, Enforced: asked, State: control.Enforced}
}

// required refuses a run in which a control that is required by name is not in full force.
func (r *seatbeltRun) required() error {
	for _, line := range r.lines() {
		if slices.Contains(r.plan.Require, line.Name) && line.State != control.Enforced {
			return plan.Refuse(plan.CodeRequire, "omit --require, or run it with --backend native on Linux", "required control %s is %s: %s", line.Name, line.State, strings.TrimSpace(line.Reason))
		}
	}
	return nil
}
