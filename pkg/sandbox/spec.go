package sandbox

import (
	"fmt"
	"slices"
	"time"

	"ethos/pkg/record"
)

// Spec is what is asked of the boundary for one command. [Build] makes a [Plan] of it.
// Paths are written as package capability reads them: absolute, relative to the work space or below "~", with ${VAR:-default}, and with a "?" at the end when
// they may be missing.
type Spec struct {
	Profile   string // name of a built-in profile; see [Profiles]
	Tags      []string
	Declared  bool // the path lists are complete: the profile adds no work space of its own
	Argv      []string
	Dir       string // working directory, absolute
	Workspace string // absolute
	Environ   []string
	// KeepsStore says that a store of traces is kept in the work space, or may be
	// while the command runs: its directory is there, and hidden.
	KeepsStore bool

	Read            []string // can be read
	Write           []string // can be read and written
	DenyRead        []string // cannot be read or written
	AllowWithinDeny []string // can be read all the same
	DenyWrite       []string // cannot be written
	Cache           []string // of the host below, the command's own above: copy-on-write
	UnixSockets     []string // pathname sockets that can be connected to

	Network      string // none | loopback | proxy | host; "" as the profile
	AllowDomains []string
	DenyDomains  []string
	Env          []string // NAME: passed on; NAME=VALUE: set
	Limits       Limits   // zero members as the profile
	Require      []string // controls without which nothing runs; see [Controls]
	Enforce      string   // cgroup | available; "" means available
	Seccomp      string   // profile name; "" means deny-privilege
	SeccompFile  string   // OCI seccomp JSON that is used instead
	Git          string   // none | read | wrapped | full; "" as the profile
	Managed      ManagedGit
	CloseStdin   bool            // the command's standard input is empty
	NewSession   bool            // the command has no controlling terminal
	Recovered    []record.Denial // what [Recover] found before the run: it goes into the evidence
	AllEnv       bool            // every variable is passed on but those that make programs load code
}

// Limits bound what a command may use. A zero member is no limit of that kind.
type Limits struct {
	Timeout     time.Duration `json:"timeout"` // [NoTimeout] is none, also where the profile has one
	MemoryBytes int64         `json:"memory_bytes"`
	CPUPercent  int64         `json:"cpu_percent"` // of one processor; 250 is two and a half
	Pids        int64         `json:"pids"`
	OpenFiles   int64         `json:"open_files"`
	FileBytes   int64         `json:"file_bytes"`   // size of one file written
	OutputBytes int64         `json:"output_bytes"` // of standard output and error together, where they are captured
}

// NoTimeout as a limit of time lets the command run for as long as it wants.
const NoTimeout time.Duration = -1

// or fills zero members from defaults.
func (l Limits) or(d Limits) Limits {
	pick := func(a, b int64) int64 {
		if a != 0 {
			return a
		}
		return b
	}
	return Limits{
		Timeout:     max(0, time.Duration(pick(int64(l.Timeout), int64(d.Timeout)))),
		MemoryBytes: pick(l.MemoryBytes, d.MemoryBytes),
		CPUPercent:  pick(l.CPUPercent, d.CPUPercent),
		Pids:        pick(l.Pids, d.Pids),
		OpenFiles:   pick(l.OpenFiles, d.OpenFiles),
		FileBytes:   pick(l.FileBytes, d.FileBytes),
		OutputBytes: pick(l.OutputBytes, d.OutputBytes),
	}
}

// wantsCgroup: a cgroup is looked for when there is a limit that it holds better than anything else, or when it is a must.
func (p *Plan) wantsCgroup() bool {
	return p.mustCgroup() || p.Limits.MemoryBytes > 0 || p.Limits.CPUPercent > 0 || p.Limits.Pids > 0
}

func (p *Plan) mustCgroup() bool {
	return p.Enforce == "cgroup" || slices.Contains(p.Require, ControlCgroup)
}

// Refusal is why nothing ran.
type Refusal struct {
	Code string // sandbox.declaration, sandbox.setup, …: the reason code in a result
	Err  error
	Hint string // the way out
}

func (r *Refusal) Error() string { return r.Err.Error() }

func (r *Refusal) Unwrap() error { return r.Err }

// The codes of a [Refusal].
const (
	CodeDeclaration = "sandbox.declaration" // what is asked for is contradictory or not to be had by anyone
	CodeSetup       = "sandbox.setup"       // a step of the set-up failed
	CodeVerify      = "sandbox.verify"      // the set-up went through, and the state read back is not the plan's
	CodeRequire     = "sandbox.require"     // a control that was required cannot be had here
	CodeUnsupported = "sandbox.unsupported" // not on this system
	CodeNotFound    = "sandbox.not_found"   // no such command
	CodeNotExec     = "sandbox.not_executable"
)

func refuse(code, hint, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Err: fmt.Errorf(format, args...), Hint: hint}
}
