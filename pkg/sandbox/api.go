package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/exec"
	"ethos/pkg/sandbox/explain"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/sandbox/seatbelt"
)

// The types that carry out a plan: package exec.
type (
	IO      = exec.IO
	Outcome = exec.Outcome
	Capture = exec.Capture
	Session = exec.Session
	Command = exec.Command
	Child   = exec.Child
	// Failed describes a command that failed, as far as that is known.
	Failed = exec.Failed
	// Tail keeps the end of what is written to it.
	Tail   = explain.Tail
	Narrow = control.Narrow
)

// StatusRefused is the exit status of a program whose command did not start.
const StatusRefused = exec.StatusRefused

// KeptBytes is how many bytes of each stream a result keeps.
const KeptBytes = exec.KeptBytes

var (
	// Run carries out a plan and waits until it ends.
	Run = exec.Run
	// Start starts a session: a boundary for several commands.
	Start = exec.Start
	// CheckNarrow reports whether a command of a session can be narrowed.
	CheckNarrow = exec.CheckNarrow
	// MakeOwn creates ethos's directory in the work space of a session. If it did, the plan
	// must be built again.
	MakeOwn = control.MakeOwn
	// RunCaptured is [Run] with an empty standard input and both output streams captured.
	RunCaptured = exec.RunCaptured
	// Explain adds to the evidence of a failed run what can be said about the cause.
	Explain = exec.Explain
	// Infer returns what can be said about the cause of a failed command in a session.
	Infer = exec.Infer
	// Forwarded returns the signals that are passed on to a command.
	Forwarded = exec.Forwarded
	// RefusedStatus returns the exit status of a program that ran nothing, by the code of
	// the refusal.
	RefusedStatus = exec.RefusedStatus
	// NewCapture captures at most the given number of bytes of two streams; 0 means no
	// limit.
	NewCapture = exec.NewCapture
	// Shorten halves what a result keeps of a stream.
	Shorten = exec.Shorten
	// ReadAhead begins to read what the next run needs to know of the machine, while that is planned.
	ReadAhead = exec.ReadAhead
	// Release frees what is kept between runs. No run may be in progress.
	Release = exec.Release
	// Recover quarantines what runs left for git or for an agent if their process was
	// killed before it could. Call it before [Build], once in a process.
	Recover = control.Recover
	// ViewPlace returns the parameters of a view for a plan.
	ViewPlace = control.ViewPlace
	// ApplyView applies changes of a view to the host, and quarantines those that git or an
	// agent would run outside.
	ApplyView = control.ApplyView
	// KeepView copies what the command created or changed in one root of a view to a new
	// directory.
	KeepView = control.KeepView
	// SeatbeltProfile returns the profile of a plan for the sandbox of macOS.
	SeatbeltProfile = seatbelt.Write
	// SeccompText returns the plan's filter programs in the syntax of bpf_asm.
	SeccompText = control.SeccompText
)

// The types that make up a plan: package plan.
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

// What a command may do at a path and below it.
const (
	Hidden    = plan.Hidden
	ReadOnly  = plan.ReadOnly
	ReadWrite = plan.ReadWrite
	Private   = plan.Private
)

// The backends: the mechanisms that enforce the boundary.
const (
	Native   = plan.Native
	Bwrap    = plan.Bwrap
	Landlock = plan.Landlock
	Seatbelt = plan.Seatbelt
	None     = plan.None
	// Outer is the boundary of another ethos-sandbox around this process: see [OnlyOuter].
	Outer = plan.Outer
)

// Backends lists the backends, the strongest first.
func Backends() []string { return plan.Backends() }

// OnlyOuter reports whether this process runs in the boundary of another ethos-sandbox in
// which no second one can be made. A command can then run with [Outer].
var OnlyOuter = control.OnlyOuter

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

// Names of controls that denials give as their layer.
const (
	ControlNetwork = plan.ControlNetwork
	ControlGit     = plan.ControlGit
	ControlNames   = plan.ControlNames
	ControlSigning = plan.ControlSigning
)

// Controls lists every control, in the order of the evidence.
func Controls() []string { return record.Controls() }

// NoEvidence returns the evidence of an action for which no plan was made.
var NoEvidence = plan.NoEvidence

// Requested returns the evidence of a plan that was not carried out.
var Requested = plan.Requested

// OtherSandboxHint is the hint inside another program's sandbox.
const OtherSandboxHint = plan.OtherSandboxHint

// TimeHint says what a person does about a command that was killed at a time limit. most is the
// highest that the ceiling of the machine allows, 0 for any.
func TimeHint(limit, most time.Duration) string { return plan.TimeHint(limit, most) }

// MemoryHint is [TimeHint] for memory, in bytes.
func MemoryHint(limit, most int64) string { return plan.MemoryHint(limit, most) }

// OuterHint is the hint for what a command with [Outer] cannot have.
const OuterHint = plan.OuterHint

// PortHint says which ports a remedy stands for that names a host without a port, and how
// to allow another.
var PortHint = plan.PortHint

// CacheUse describes what commands have added to one package cache of a work space.
type CacheUse = control.CacheUse

// Caches lists what commands have added to the package caches of a work space,
// the least recently used first.
func Caches(workspace string) ([]CacheUse, error) { return control.Caches(workspace) }

// PruneCaches removes the parts of these caches that no run uses: those last used before a
// time, and as many others, least recently used first, as leave at most keep bytes.
func PruneCaches(workspace string, before time.Time, keep int64, dry bool) ([]CacheUse, error) {
	return control.PruneCaches(workspace, before, keep, dry)
}

// Restricted looks for a machine setting that keeps ordinary users from making user
// namespaces.
var Restricted = plan.Restricted

// Environment returns the environment that [Build] gives a command, without making the rest
// of the plan.
var Environment = plan.Environment

// Covering returns the entry of a table that applies to a path.
var Covering = plan.Covering

// Build makes the plan of a spec. It reads the file system through files and changes
// nothing. uid is the caller's user ID. The error is a [*Refusal].
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
