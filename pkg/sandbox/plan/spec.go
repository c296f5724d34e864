package plan

import (
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/record"
)

// Spec is the requested boundary of one command. [Build] makes a [Plan] of it. Paths have
// the syntax of package capability: absolute, relative to the work space or below "~", with
// ${VAR:-default}, and with a trailing "?" if they may be missing.
type Spec struct {
	capability.Asked
	Argv      []string
	Dir       string // working directory, absolute
	Workspace string // absolute
	// Placed says that Workspace is already resolved: the path of a directory without
	// links. A path that leads elsewhere now is refused.
	Placed  bool
	Environ []string
	// KeepsStore says that a store of traces is kept in the work space, or may be while the
	// command runs. Its directory exists and is hidden.
	KeepsStore bool
	Require    []string // controls without which nothing runs; see [Controls]
	// Backend is the backend: "" or [Native], [Landlock], [Seatbelt] or [None]. Only a person can
	// choose one other than native; no declaration has this field.
	Backend     string
	Managed     ManagedGit
	Agent       string          // the agent that is confined as a whole, see [capability.Agent]; "" is none
	Program     string          // path of ethos-sandbox, shown at record.InsideSandbox; "" leaves it out
	Signer      string          // path of ethos-sandbox, which git runs inside to sign: see package signing
	Publish     []string        // host ports forwarded to the inside: [ADDRESS:]HOSTPORT:PORT
	PublishAny  bool            // also on addresses that other machines can reach
	ProxyEnv    bool            // HTTP_PROXY and similar variables name the proxy inside
	Descriptors []int           // open descriptors of this process above 2 that the command inherits
	Debug       bool            // the command may trace its own processes
	CloseStdin  bool            // the command's standard input is empty
	Explain     bool            // names that the command asks for are observed: see package explain
	NewSession  bool            // the command has no controlling terminal
	Recovered   []record.Denial // what [Recover] found before the run; it goes into the evidence
}

// limitsOf returns the limits of a request.
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
