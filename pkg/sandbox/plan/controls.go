package plan

import "slices"

// controls are the names of the controls as --require and the evidence use them: those of
// control.New that have a line in the evidence, in its order.
var controls = []string{
	"userns", ControlWorkspace, "mount", "pid", "ipc", "uts", "cgroupns", ControlNetwork, "egress", "publish", "ports", "privileges", "landlock", "seccomp", "unix_sockets",
	ControlSigning, "cgroup", "rlimits", "timeout", "output", "caches", "environment",
}

// Controls lists every control, in the order of the evidence.
func Controls() []string { return slices.Clone(controls) }

// Names of controls that other files refer to. The last two have no line in the evidence;
// they are layers that a denial names.
const (
	ControlNetwork   = "network"
	ControlWorkspace = "workspace" // copy-on-write views of the writable directories
	ControlGit       = "git"       // quarantines what a command left for git or an agent to run outside
	ControlNames     = "names"     // keeps files with protected names from taking effect
)
