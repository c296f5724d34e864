package plan

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"ethos/pkg/statedir"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/treescan"
)

// Plan describes everything that is done to confine one command, as data.
type Plan struct {
	Backend        string           `json:"backend,omitempty"` // [Bwrap], [Landlock], [Seatbelt], [None] or [Outer]; "" is native
	Profile        string           `json:"profile"`
	Tags           []string         `json:"tags"`
	Argv           []string         `json:"argv"`
	Dir            string           `json:"dir"`
	Workspace      string           `json:"workspace"`
	Owner          *Owner           `json:"owner,omitempty"` // of the work space, if root works in somebody else's
	Namespaces     []string         `json:"namespaces"`
	Hostname       string           `json:"hostname"`
	Paths          []Entry          `json:"paths"`
	Mounts         []mount.Mount    `json:"mounts"`
	Placeholders   []Placeholder    `json:"placeholders"`
	ProtectedNames []ProtectedNames `json:"protected_names"`
	GitSettings    []GitSettings    `json:"git_settings,omitempty"`
	AgentState     []AgentState     `json:"agent_state,omitempty"`
	GitSigning     string           `json:"git_signing,omitempty"`     // whose commits and tags are signed outside; "" is nobody's
	View           *View            `json:"view,omitempty"`            // nil if the command writes to the host's files
	Grants         []Grant          `json:"grants,omitempty"`          // what Landlock grants, for a backend without mounts
	EnvFilesShown  int              `json:"env_files_shown,omitempty"` // how many are too many, or too deep, to be hidden
	OwnSandbox     string           `json:"-"`                         // how to turn off the agent's own sandbox, which cannot be made inside; "" if it is off
	ScratchBytes   int64            `json:"scratch_bytes"`             // of all private directories together; 0 is half of the memory
	Network        string           `json:"network"`
	AllowDomains   []string         `json:"allow_domains"`
	DenyDomains    []string         `json:"deny_domains"`
	Egress         *Egress          `json:"egress,omitempty"`          // nil unless the network is "proxy"
	Ports          *Ports           `json:"ports,omitempty"`           // nil allows every port, and UDP
	NoUnixSockets  bool             `json:"no_unix_sockets,omitempty"` // the command can make Unix sockets only as connected pairs
	NestedUserns   string           `json:"nested_userns,omitempty"`   // the command may make user namespaces and, with "mounts", mount in them
	DenyExec       []string         `json:"deny_exec,omitempty"`       // paths at and below which nothing is executed
	Publish        []Published      `json:"publish,omitempty"`
	UnixSockets    []string         `json:"unix_sockets"`
	Env            []string         `json:"env"`
	Limits         Limits           `json:"limits"`
	Asked          bool             `json:"limits_asked"` // memory, CPU or processes were limited by name, not only by the profile
	Enforce        string           `json:"enforce"`
	Require        []string         `json:"require"`
	Masks          []record.Mask    `json:"masks,omitempty"` // files whose content is replaced
	Seccomp        string           `json:"seccomp"`
	SeccompFile    string           `json:"seccomp_file,omitempty"`
	Debug          bool             `json:"debug,omitempty"`   // the command may trace its own processes
	Explain        bool             `json:"explain,omitempty"` // names that the command asks for are observed
	NewSession     bool             `json:"new_session"`
	CloseStdin     bool             `json:"close_stdin"`
	Descriptors    []int            `json:"descriptors,omitempty"` // in addition to 0, 1 and 2, sorted
	Ceiling        string           `json:"ceiling,omitempty"`     // digest of the machine's ceiling
	MostTime       time.Duration    `json:"-"`                     // the ceiling's limit for a command of a session; 0 is none
	MostMemory     int64            `json:"-"`                     // the ceiling's limit, in bytes; 0 is none
	Unpublished    bool             `json:"-"`                     // the ceiling forbids published ports
	Notes          []Note           `json:"notes"`
	Recovered      []record.Denial  `json:"-"` // what killed runs left behind
	ProcFiles      []mount.File     `json:"-"` // for a /proc that is not a proc(5) mount
	Sockets        []string         `json:"-"` // the existing UnixSockets, without links
	Own            string           `json:"-"` // ethos's directory for this work space
	Home           string           `json:"-"` // the user's home directory, for "~/" in git configuration
	// Getenv returns a variable of the caller's environment.
	Getenv func(string) string `json:"-"`
	// Granted plans the same spec with more paths declared. It lets the caller check that a
	// declaration that it is about to propose would be accepted.
	Granted func(more More) (*Plan, error) `json:"-"`
	// Decide asks policy about an action that ethos performs outside for the command, such
	// as signing. It returns a [*Refusal] if policy denies the action. If Decide is nil,
	// policy is not asked. It may be called at any time until the run ends, with the
	// context of the run.
	Decide func(context.Context, record.Action) error `json:"-"`
	// Scans returns the scans of the writable directories from which the plan was made:
	// once, for the first run. Later calls return nil.
	Scans func() []*treescan.Tree `json:"-"`
}

// Note is something that the plan leaves out, and the reason.
type Note struct {
	About  string `json:"about"`
	Reason string `json:"reason"`
}

// WantsCgroup reports whether to look for a cgroup: if one is required, or if a limit is
// set that a cgroup enforces best.
func (p *Plan) WantsCgroup() bool {
	return p.MustCgroup() || p.Limits.MemoryBytes > 0 || p.Limits.CPUPercent > 0 || p.Limits.Pids > 0
}

// MustCgroup reports whether the run requires a cgroup.
func (p *Plan) MustCgroup() bool {
	return p.Enforce == "cgroup" || slices.Contains(p.Require, "cgroup")
}

// DenyPrivilege is the name of the system call filter that every command has.
const DenyPrivilege = "deny-privilege"

// SeccompText names the filters for the evidence.
func (p *Plan) SeccompText() string {
	name := DenyPrivilege
	if p.SeccompFile == "" {
		name = p.Seccomp
	}
	if p.Debug {
		name += " but for tracing"
	}
	switch p.NestedUserns {
	case capability.NestedNamespaces:
		name += " but for namespaces"
	case capability.NestedMounts:
		name += " but for namespaces and mounts"
	}
	if p.SeccompFile == "" {
		return name
	}
	return name + " and " + p.SeccompFile
}

// EthosDir is the directory of a work space that belongs to ethos.
const EthosDir = ".coding-ethos"

// OwnHint is the hint for an EthosDir that cannot be created or used.
const OwnHint = "you must be able to write to the work space, and own its .coding-ethos directory: move away what is in its place"

// JournalName is the file in ethos's directory that lists the placeholders.
const JournalName = "placeholders"

// InsideTraces is the subdirectory of ethos's directory in which managed git keeps its
// trace store. The command can write it, so it proves nothing about the command.
const InsideTraces = "inside"

// HasInsideTraces reports whether the run needs the trace store of managed git.
func (p *Plan) HasInsideTraces() bool {
	return slices.ContainsFunc(p.Mounts, func(m mount.Mount) bool { return m.Target == record.InsideTraces })
}

// Managed reports whether a mount belongs to managed git, or to another program or
// directory that ethos mounts: only these binds have a target that differs from their
// source.
func Managed(m mount.Mount) bool { return m.Kind == mount.Bind && m.Source != m.Target }

// Lookup returns the value of a variable in an environment; the last entry wins.
func Lookup(environ []string, name string) string {
	for _, entry := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// ScanMemory returns the file that caches the scan of a root. It is in the state folder,
// which no command sees. It returns "" if there is no state folder.
func ScanMemory(getenv func(string) string, root string) string {
	dir, err := statedir.Dir(getenv)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(dir, "scan", hex.EncodeToString(sum[:16]))
}
