package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/exec"
	"ethos/pkg/sandbox/explain"
	"ethos/pkg/sandbox/plan"
)

// How a plan is carried out: package exec.
type (
	IO      = exec.IO
	Outcome = exec.Outcome
	Capture = exec.Capture
	Session = exec.Session
	Command = exec.Command
	Child   = exec.Child
	// Failed is a command that failed, as far as it is known.
	Failed = exec.Failed
	// Tail keeps the end of what is written to it.
	Tail   = explain.Tail
	Narrow = control.Narrow
)

// StatusRefused is the exit status of a program whose command did not begin.
const StatusRefused = exec.StatusRefused

// KeptBytes is how much of each stream a result keeps.
const KeptBytes = exec.KeptBytes

var (
	// Run carries out a plan and waits for the end.
	Run = exec.Run
	// Start starts a session: a boundary for several commands.
	Start = exec.Start
	// MakeOwn makes the directory of ethos in a session's work space: when it did, build the plan anew.
	MakeOwn = control.MakeOwn
	// RunCaptured is [Run] with an empty standard input and both output streams captured.
	RunCaptured = exec.RunCaptured
	// Explain adds to the evidence of a run that failed what can be told of why.
	Explain = exec.Explain
	// Infer is what can be told of a failed command in a session.
	Infer = exec.Infer
	// Forwarded are the signals that are passed on to a command.
	Forwarded = exec.Forwarded
	// RefusedStatus is the exit status of a program when nothing ran, by the code of the refusal.
	RefusedStatus = exec.RefusedStatus
	// NewCapture shows at most a number of bytes of two streams; 0 means no limit.
	NewCapture = exec.NewCapture
	// Shorten halves what a result keeps of a stream.
	Shorten = exec.Shorten
	// Release gives back what is kept between runs. No run may be under way.
	Release = exec.Release
	// Recover puts aside what runs left for git or for an agent whose process was killed before it could. It belongs before [Build], once in a process.
	Recover = control.Recover
	// ViewPlace is what a view for a plan is made of.
	ViewPlace = control.ViewPlace
	// ApplyView applies changes of a view, and puts aside what of them git or an agent would run outside.
	ApplyView = control.ApplyView
	// KeepView copies what the command made or changed in a root of a view to a new directory.
	KeepView = control.KeepView
	// SeccompText is the plan's programs in the form of bpf_asm, for people.
	SeccompText = control.SeccompText
)

// What a plan is made of: package plan.
type (
	Spec           = plan.Spec
	ManagedGit     = plan.ManagedGit
	HostFiles      = plan.HostFiles
	Files          = plan.Files
	Plan           = plan.Plan
	Note           = plan.Note
	Entry          = plan.Entry
	Access         = plan.Access
	Placeholder    = plan.Placeholder
	ProtectedNames = plan.ProtectedNames
	Limits         = plan.Limits
	Refusal        = plan.Refusal
)

// What a command may do below a path.
const (
	Hidden    = plan.Hidden
	ReadOnly  = plan.ReadOnly
	ReadWrite = plan.ReadWrite
	Private   = plan.Private
)

// The backends: what makes the boundary.
const (
	Native   = plan.Native
	Landlock = plan.Landlock
	None     = plan.None
)

// Backends lists the backends, the strongest first.
func Backends() []string { return plan.Backends() }

// The codes of a [Refusal].
const (
	CodeDeclaration = plan.CodeDeclaration
	CodeSetup       = plan.CodeSetup
	CodeStale       = plan.CodeStale
	CodeVerify      = plan.CodeVerify
	CodeRequire     = plan.CodeRequire
	CodeUnsupported = plan.CodeUnsupported
	CodeNotFound    = plan.CodeNotFound
	CodeNotExec     = plan.CodeNotExec
)

// Names of controls that a denial has as its layer.
const (
	ControlNetwork = plan.ControlNetwork
	ControlGit     = plan.ControlGit
	ControlNames   = plan.ControlNames
	ControlSigning = plan.ControlSigning
)

// Controls lists every control, in the order of the evidence.
func Controls() []string { return plan.Controls() }

// NoEvidence is the evidence of an action for which not even a plan was made.
var NoEvidence = plan.NoEvidence

// Requested is the evidence of a plan that was not carried out.
var Requested = plan.Requested

// OtherSandboxHint is the way out inside of another program's sandbox.
const OtherSandboxHint = plan.OtherSandboxHint

// PortHint says of a remedy that names a host without a port how another port is allowed.
var PortHint = plan.PortHint

// CacheUse is what commands have added to one package cache of a work space.
type CacheUse = control.CacheUse

// Caches lists what commands have added to the package caches of a work space,
// the least recently used first.
func Caches(workspace string) ([]CacheUse, error) { return control.Caches(workspace) }

// PruneCaches removes what no run uses of it: that which was last used before a
// time, and so much of the rest that at most keep bytes are left.
func PruneCaches(workspace string, before time.Time, keep int64, dry bool) ([]CacheUse, error) {
	return control.PruneCaches(workspace, before, keep, dry)
}

// Restricted looks for a setting of the machine that keeps ordinary users from user namespaces.
var Restricted = plan.Restricted

// Environment is the environment that [Build] gives a command, without the rest
// of its plan.
var Environment = plan.Environment

// Covering is the entry of a table that decides on a path.
var Covering = plan.Covering

// Build makes the plan of a spec. It reads the file system through files and changes nothing. uid is the caller's. The error is a [*Refusal].
func Build(spec Spec, files Files, uid int) (*Plan, error) {
	if signing := spec.Whole().GitSigning; signing != "" && signing != "none" && spec.Signer == "" {
		self, err := os.Executable()
		if err == nil {
			self, err = filepath.EvalSymlinks(self)
		}
		if err != nil {
			return nil, &Refusal{Code: CodeSetup, Err: fmt.Errorf("git_signing: this program: %w", err)}
		}
		spec.Signer = self
	}
	p, err := plan.Build(spec, files, uid)
	if err != nil {
		return nil, control.NestedRefusal(err)
	}
	return p, nil
}
