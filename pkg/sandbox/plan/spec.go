package plan

import (
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/record"
)

// Spec is what is asked of the boundary for one command. [Build] makes a [Plan]
// of it. Paths are written as package capability reads them: absolute, relative
// to the work space or below "~", with ${VAR:-default}, and with a "?" at the end
// when they may be missing.
type Spec struct {
	capability.Asked
	Argv      []string
	Dir       string // working directory, absolute
	Workspace string // absolute
	// Placed says that Workspace was settled before, as the path of a directory
	// without links: one that leads elsewhere now is refused.
	Placed  bool
	Environ []string
	// KeepsStore says that a store of traces is kept in the work space, or may be
	// while the command runs: its directory is there, and hidden.
	KeepsStore bool
	Require    []string // controls without which nothing runs; see [Controls]
	// Backend is what makes the boundary: "" or [Native], [Landlock] or [None]. Only a
	// person chooses another than native: no declaration has it.
	Backend     string
	Managed     ManagedGit
	Agent       string          // the agent that is confined as a whole, see [capability.Agent]; "" is none
	Program     string          // ethos-sandbox itself, shown at record.InsideSandbox; "" leaves it out
	Signer      string          // ethos-sandbox itself, which git runs inside where it signs: see package signing
	Publish     []string        // ports of the host that lead inside: [ADDRESS:]HOSTPORT:PORT
	PublishAny  bool            // also on addresses that other machines reach
	ProxyEnv    bool            // HTTP_PROXY and its like name the proxy inside
	Descriptors []int           // open ones of this process that the command has as well, above 2
	Debug       bool            // the command may trace its own processes
	CloseStdin  bool            // the command's standard input is empty
	Explain     bool            // what the command asks for by name is observed: see package explain
	NewSession  bool            // the command has no controlling terminal
	Recovered   []record.Denial // what [Recover] found before the run: it goes into the evidence
}

// limitsOf are the limits of what is asked for.
func limitsOf(a *capability.Asked, s *capability.Set) Limits {
	l := Limits{
		Timeout: time.Duration(s.TimeoutSeconds) * time.Second, MemoryBytes: s.MemoryMB << 20, CPUPercent: s.CPUQuotaPercent,
		Pids: s.Pids, OpenFiles: s.OpenFiles, OutputBytes: s.OutputBytes,
	}
	if a.Timeout != 0 {
		l.Timeout = a.Timeout
	}
	if a.MemoryBytes != 0 {
		l.MemoryBytes = a.MemoryBytes
	}
	l.Timeout = max(0, l.Timeout)
	return l
}
