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

// Plan is all that will be done to confine one command, as data.
type Plan struct {
	Backend        string           `json:"backend,omitempty"` // [Landlock] or [None]; "" is native
	Profile        string           `json:"profile"`
	Tags           []string         `json:"tags"`
	Argv           []string         `json:"argv"`
	Dir            string           `json:"dir"`
	Workspace      string           `json:"workspace"`
	Owner          *Owner           `json:"owner,omitempty"` // of the work space, where root works in somebody else's
	Namespaces     []string         `json:"namespaces"`
	Hostname       string           `json:"hostname"`
	Paths          []Entry          `json:"paths"`
	Mounts         []mount.Mount    `json:"mounts"`
	Placeholders   []Placeholder    `json:"placeholders"`
	ProtectedNames []ProtectedNames `json:"protected_names"`
	GitSettings    []GitSettings    `json:"git_settings,omitempty"`
	AgentState     []AgentState     `json:"agent_state,omitempty"`
	GitSigning     string           `json:"git_signing,omitempty"` // whose commits and tags are signed outside; "" is nobody's
	View           *View            `json:"view,omitempty"`        // nil where the command writes to the host's files
	Grants         []Grant          `json:"grants,omitempty"`      // what Landlock grants, where nothing else holds the paths
	OwnSandbox     string           `json:"-"`                     // how the agent's own sandbox, which cannot be made inside, is turned off; "" where it is
	ScratchBytes   int64            `json:"scratch_bytes"`         // of all private directories together; 0: half of the memory
	Network        string           `json:"network"`
	AllowDomains   []string         `json:"allow_domains"`
	DenyDomains    []string         `json:"deny_domains"`
	Egress         *Egress          `json:"egress,omitempty"`          // nil unless the network is "proxy"
	Ports          *Ports           `json:"ports,omitempty"`           // nil: every port, and UDP
	NoUnixSockets  bool             `json:"no_unix_sockets,omitempty"` // no Unix socket is made but pairs
	NestedUserns   string           `json:"nested_userns,omitempty"`   // the command makes user namespaces, and with "mounts" mounts in them
	DenyExec       []string         `json:"deny_exec,omitempty"`       // nothing there and below is executed
	Publish        []Published      `json:"publish,omitempty"`
	UnixSockets    []string         `json:"unix_sockets"`
	Env            []string         `json:"env"`
	Limits         Limits           `json:"limits"`
	Asked          bool             `json:"limits_asked"` // memory, CPU or processes were bounded by name, not by the profile alone
	Enforce        string           `json:"enforce"`
	Require        []string         `json:"require"`
	Masks          []record.Mask    `json:"masks,omitempty"` // what stands in the place of files
	Seccomp        string           `json:"seccomp"`
	SeccompFile    string           `json:"seccomp_file,omitempty"`
	Debug          bool             `json:"debug,omitempty"`   // the command may trace its own processes
	Explain        bool             `json:"explain,omitempty"` // what the command asks for by name is observed
	NewSession     bool             `json:"new_session"`
	CloseStdin     bool             `json:"close_stdin"`
	Descriptors    []int            `json:"descriptors,omitempty"` // beside 0, 1 and 2, in order
	Ceiling        string           `json:"ceiling,omitempty"`     // digest of the machine's
	MostTime       time.Duration    `json:"-"`                     // of the ceiling, for a command of a session; 0 is no bound
	Unpublished    bool             `json:"-"`                     // by the ceiling: no port leads in
	Notes          []Note           `json:"notes"`
	Recovered      []record.Denial  `json:"-"` // what runs left that were killed
	ProcFiles      []mount.File     `json:"-"` // for a /proc that is not proc(5)
	Sockets        []string         `json:"-"` // those of UnixSockets that are there, without links
	Own            string           `json:"-"` // the directory of ethos for this work space
	Home           string           `json:"-"` // the person's, for "~/" in a configuration of git
	// Getenv reads the caller's environment.
	Getenv func(string) string `json:"-"`
	// Granted is the plan of the same spec with more declared: for who proposes a declaration, which has to be one that can be had.
	Granted func(more More) (*Plan, error) `json:"-"`
	// Decide says why policy does not let what ethos does outside for the command, such as signing: a [*Refusal]. Without it, policy has no say. It may be called at any time
	// until the run has ended, with the context of the run.
	Decide func(context.Context, record.Action) error `json:"-"`
	// Scans are those of the writable directories that the plan was made with, for the first run; nil for the next.
	Scans func() []*treescan.Tree `json:"-"`
}

// Note is something that the plan leaves out, and why.
type Note struct {
	About  string `json:"about"`
	Reason string `json:"reason"`
}

// WantsCgroup reports whether a cgroup is looked for: when there is a limit that it holds better than anything else, or when it is a must.
func (p *Plan) WantsCgroup() bool {
	return p.MustCgroup() || p.Limits.MemoryBytes > 0 || p.Limits.CPUPercent > 0 || p.Limits.Pids > 0
}

// MustCgroup reports whether nothing runs without a cgroup.
func (p *Plan) MustCgroup() bool {
	return p.Enforce == "cgroup" || slices.Contains(p.Require, "cgroup")
}

// DenyPrivilege is the system call filter that every command has.
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

// OwnHint is the way out where that directory cannot be had.
const OwnHint = "the work space must be writable for you, and its .coding-ethos directory yours: move away what is in its place"

// JournalName is the file in the directory of ethos that names placeholders.
const JournalName = "placeholders"

// InsideTraces is the directory of ethos in which managed git keeps its trace store. The command can write it, so that it proves nothing of the command.
const InsideTraces = "inside"

// HasInsideTraces reports whether the run needs the trace store of managed git.
func (p *Plan) HasInsideTraces() bool {
	return slices.ContainsFunc(p.Mounts, func(m mount.Mount) bool { return m.Target == record.InsideTraces })
}

// Managed reports whether a mount is one of managed git's: no other bind shows something in another place.
func Managed(m mount.Mount) bool { return m.Kind == mount.Bind && m.Source != m.Target }

// Lookup is the value of a variable in an environment; the last one counts.
func Lookup(environ []string, name string) string {
	for _, entry := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// ScanMemory names the file in which the scan of a root is remembered: in the state folder, which no command sees. "" where there is no state
// folder.
func ScanMemory(getenv func(string) string, root string) string {
	dir, err := statedir.Dir(getenv)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(dir, "scan", hex.EncodeToString(sum[:16]))
}
