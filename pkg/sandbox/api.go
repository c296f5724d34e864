package sandbox

import "ethos/pkg/sandbox/plan"

// What a plan is made of: package plan.
type (
	Plan        = plan.Plan
	Note        = plan.Note
	Entry       = plan.Entry
	Access      = plan.Access
	Watched     = plan.Watched
	Placeholder = plan.Placeholder
	Limits      = plan.Limits
	Refusal     = plan.Refusal
)

// What a command may do below a path.
const (
	Hidden    = plan.Hidden
	ReadOnly  = plan.ReadOnly
	ReadWrite = plan.ReadWrite
	Private   = plan.Private
)

// NoTimeout as a limit of time lets the command run for as long as it wants.
const NoTimeout = plan.NoTimeout

// The codes of a [Refusal].
const (
	CodeDeclaration = plan.CodeDeclaration
	CodeSetup       = plan.CodeSetup
	CodeVerify      = plan.CodeVerify
	CodeRequire     = plan.CodeRequire
	CodeUnsupported = plan.CodeUnsupported
	CodeNotFound    = plan.CodeNotFound
	CodeNotExec     = plan.CodeNotExec
)

// The names of the controls.
const (
	ControlUser       = plan.ControlUser
	ControlMount      = plan.ControlMount
	ControlPID        = plan.ControlPID
	ControlIPC        = plan.ControlIPC
	ControlUTS        = plan.ControlUTS
	ControlCgroupNS   = plan.ControlCgroupNS
	ControlNetwork    = plan.ControlNetwork
	ControlLandlock   = plan.ControlLandlock
	ControlSeccomp    = plan.ControlSeccomp
	ControlSockets    = plan.ControlSockets
	ControlPrivileges = plan.ControlPrivileges
	ControlCgroup     = plan.ControlCgroup
	ControlRlimits    = plan.ControlRlimits
	ControlTimeout    = plan.ControlTimeout
	ControlOutput     = plan.ControlOutput
	ControlCaches     = plan.ControlCaches
	ControlEnv        = plan.ControlEnv
	ControlGit        = plan.ControlGit
	ControlNames      = plan.ControlNames
)

// Controls lists every control, in the order of the evidence.
func Controls() []string { return plan.Controls() }

// NoEvidence is the evidence of an action for which not even a plan was made.
var NoEvidence = plan.NoEvidence

// Requested is the evidence of a plan that was not carried out.
var Requested = plan.Requested

// Restricted looks for a setting of the machine that keeps ordinary users from user namespaces.
var Restricted = plan.Restricted

// The builder's short names for them.
const (
	ethosDir         = plan.EthosDir
	journalName      = plan.JournalName
	gitConfiguration = plan.GitConfiguration
	insideTraces     = plan.InsideTraces
)

var (
	covering   = plan.Covering
	protective = plan.Protective
	refuse     = plan.Refuse
	asSetup    = plan.AsSetup
	managed    = plan.Managed
)
