package plan

// Names of controls that other files refer to. The last two have no line in the evidence;
// they are layers that a denial names.
const (
	ControlNetwork   = "network"
	ControlWorkspace = "workspace" // copy-on-write views of the writable directories
	ControlGit       = "git"       // quarantines what a command left for git or an agent to run outside
	ControlNames     = "names"     // keeps files with protected names from taking effect
)
