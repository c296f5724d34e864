package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/mount"
)

// The states of a control.
const (
	stateEnforced  = "enforced"
	stateDegraded  = "degraded"
	stateAbsent    = "absent"
	stateNotWanted = "not_requested"
)

// evidence says what was asked for and what is known to have been in force. Before the state was read back nothing is.
func (r *run) evidence(failure error) record.Sandbox {
	e := Requested(r.plan)
	e.Controls = r.controls()
	e.NetworkIsolated = r.enforced(e.Controls, ControlNetwork)
	e.ProcessIsolated = r.enforced(e.Controls, ControlPID)
	e.TimeoutEnforced = r.enforced(e.Controls, ControlTimeout)
	e.SeccompEnabled = r.enforced(e.Controls, ControlSeccomp)
	e.CgroupEnabled = r.enforced(e.Controls, ControlCgroup)
	e.Usage = r.used()
	if failure != nil {
		e.Denied, e.Reason = true, failure.Error()
	}
	if r.lost != "" {
		e.Reason = r.lost
	}
	e.Denials = append(append(e.Denials, denialsOf(r.names)...), denials(r.aside)...)
	if r.insisted != nil {
		e.Reason = shown("ended because of protected names: " + r.insisted.Error())
		e.Denials = append(e.Denials, record.Denial{Layer: ControlNames, What: "the rest of the run", Reason: shown(r.insisted.Error())})
	}
	if r.opened != nil {
		e.Reason = "ended because the boundary changed: " + r.opened.Error()
		e.Denials = append(e.Denials, record.Denial{Layer: ControlMount, What: "the rest of the run", Reason: r.opened.Error()})
	}
	return e
}

// inForce reports that what was read back is what was planned.
func (r *run) inForce() bool { return r.seen != nil && r.seen.held }

func (r *run) enforced(controls []record.Control, name string) bool {
	i := slices.IndexFunc(controls, func(c record.Control) bool { return c.Name == name })
	return i >= 0 && controls[i].State == stateEnforced
}

// controls judges each layer by what was seen.
func (r *run) controls() []record.Control {
	p := r.plan
	namespace := func(name, kind string) record.Control {
		return r.control(name, "a "+kind+" namespace of its own", r.inForce() && r.seen.namespaces[kind], slices.Contains(p.Namespaces, kind))
	}
	return []record.Control{
		namespace(ControlUser, "user"),
		r.mountControl(),
		namespace(ControlPID, "pid"), namespace(ControlIPC, "ipc"),
		r.weaker(namespace(ControlUTS, "uts"), "sethostname", "the machine's name is seen inside"),
		namespace(ControlCgroupNS, "cgroup"),
		r.control(ControlNetwork, p.Network, r.inForce() && r.seen.namespaces["network"], p.Network != "host"),
		r.landlockControl(),
		r.control(ControlSeccomp, p.SeccompText(), r.inForce(), true),
		r.socketControl(),
		r.weaker(r.control(ControlPrivileges, "no capability, no_new_privs", r.inForce(), true), "keyctl", "the session keyring is the caller's"),
		r.limitControl((*resources).cgroupControl, ControlCgroup), r.limitControl((*resources).rlimitControl, ControlRlimits),
		r.control(ControlTimeout, p.Limits.Timeout.String(), r.inForce(), p.Limits.Timeout > 0),
		r.control(ControlOutput, fmt.Sprintf("%d bytes", p.Limits.OutputBytes), r.io.Captured, r.io.Captured && p.Limits.OutputBytes > 0),
		r.cacheControl(),
		r.control(ControlEnv, fmt.Sprintf("%d variables", len(p.Env)), r.inForce(), true),
	}
}

func (r *run) mountControl() record.Control {
	c := r.control(ControlMount, fmt.Sprintf("a root of %d mounts", len(r.plan.Mounts)), r.inForce(), true)
	if why := r.bareProc(); why != "" && c.State == stateEnforced {
		c.State, c.Reason = stateDegraded, why
	}
	if r.opened != nil {
		c.State, c.Reason = stateDegraded, r.opened.Error()
	}
	return c
}

func (r *run) control(name, requested string, held, wanted bool) record.Control {
	c := record.Control{Name: name, Requested: requested, State: stateAbsent, Reason: "not verified: nothing ran"}
	switch {
	case !wanted:
		c.State, c.Requested, c.Reason = stateNotWanted, "", ""
	case held:
		c.State, c.Enforced, c.Reason = stateEnforced, requested, ""
	}
	return c
}

// weaker is a control that is in force but for what a call, refused and tolerated, would have added. The keyring: the system call filter keeps the caller's from being
// used. The name: engines' filters refuse sethostname(2) to whoever lacks CAP_SYS_ADMIN outside.
func (r *run) weaker(c record.Control, call, means string) record.Control {
	for _, n := range r.notes {
		if n.Step.Call == call && c.State == stateEnforced {
			c.State, c.Reason = stateDegraded, means+": "+n.Error()
		}
	}
	return c
}

// cacheControl: a cache that is not copy-on-write is still no way to write to the host's; what is weaker is the service.
func (r *run) cacheControl() record.Control {
	var targets []string
	for _, m := range r.plan.Mounts {
		if m.Kind == mount.Overlay {
			targets = append(targets, m.Target)
		}
	}
	c := r.control(ControlCaches, "copy-on-write: "+strings.Join(targets, " "), r.inForce(), len(targets) > 0)
	if notes := r.cacheNotes(); c.State == stateEnforced && len(notes) > 0 {
		c.State = stateDegraded
		for _, n := range notes {
			c.Reason += n.About + ": " + n.Reason + ". "
		}
		c.Reason = strings.TrimSuffix(c.Reason, " ")
	}
	return c
}

func (r *run) landlockControl() record.Control {
	report := r.layers.landlockReport
	c := r.control(ControlLandlock, strings.Join(report.Asked, " "), r.inForce() && !r.layers.landlock.Empty(), true)
	if r.layers.landlockErr != nil {
		c.State, c.Reason = stateAbsent, r.layers.landlockErr.Error()
		return c
	}
	if c.State != stateEnforced {
		return c
	}
	c.Enforced = fmt.Sprintf("ABI %d: %s", report.ABI, strings.Join(report.Enforced, " "))
	if !report.Full() {
		c.State, c.Reason = stateDegraded, fmt.Sprintf("ABI %d does not know %s", report.ABI, strings.Join(report.Missing, " "))
	}
	return c
}

// limitControl asks the layer that holds the limits, if it came to that.
func (r *run) limitControl(ask func(*resources, bool) record.Control, name string) record.Control {
	if r.layers.resources == nil {
		return r.control(name, r.plan.Limits.Text(), false, true)
	}
	return ask(r.layers.resources, r.inForce())
}

// used is what init and all that it reaped have used: getrusage(2). Memory is that of the largest process.
func (r *run) used() record.Usage {
	cpu := time.Duration(r.usage.Utime.Nano() + r.usage.Stime.Nano())
	u := record.Usage{
		PeakMemoryBytes: r.usage.Maxrss << 10, CPUSeconds: cpu.Seconds(),
		ReadBytes: r.usage.Inblock * 512, WriteBytes: r.usage.Oublock * 512, MeasuredBy: "rusage",
	}
	if r.layers.resources == nil {
		return u
	}
	return r.layers.measure(u)
}
