package plan

// The names of the controls, as --require and the evidence use them.
const (
	ControlUser       = "userns"
	ControlMount      = "mount"
	ControlPID        = "pid"
	ControlIPC        = "ipc"
	ControlUTS        = "uts"
	ControlCgroupNS   = "cgroupns"
	ControlNetwork    = "network"
	ControlLandlock   = "landlock"
	ControlSeccomp    = "seccomp"
	ControlSockets    = "unix_sockets"
	ControlPrivileges = "privileges"
	ControlCgroup     = "cgroup"
	ControlRlimits    = "rlimits"
	ControlTimeout    = "timeout"
	ControlOutput     = "output"
	ControlCaches     = "caches"
	ControlEnv        = "environment"
)

// Controls lists every control, in the order of the evidence.
func Controls() []string {
	return []string{ControlUser, ControlMount, ControlPID, ControlIPC, ControlUTS, ControlCgroupNS, ControlNetwork, ControlLandlock, ControlSeccomp,
		ControlSockets, ControlPrivileges, ControlCgroup, ControlRlimits, ControlTimeout, ControlOutput, ControlCaches, ControlEnv}
}

// Layers that a denial names, beside the controls.
const (
	ControlGit   = "git"   // puts aside what a command left for git, or for an agent, to run outside
	ControlNames = "names" // keeps protected names out of force
)
