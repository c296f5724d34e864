package sandbox

import (
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
