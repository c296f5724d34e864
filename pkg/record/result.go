package record

import (
	"bytes"
	"encoding/json"
)

// Result is what became of a decided action.
type Result struct {
	Status     string  `json:"status" required:"true"`
	Reason     string  `json:"reason,omitempty"`  // code, for denied: decision.deny, decision.subject_mismatch, sandbox.setup …
	Message    string  `json:"message,omitempty"` // for people
	Hint       string  `json:"hint,omitempty"`
	ExitCode   int     `json:"exit_code"`         // what never ran has none
	Signal     string  `json:"signal"`            // SIGKILL, …
	Started    string  `json:"started,omitempty"` // RFC 3339, nanoseconds, UTC
	DurationMS float64 `json:"duration_ms"`
	Capture    Capture `json:"capture"`
}

// MarshalJSON leaves out the exit status of what never ran. Whether text is made
// safe for HTML is for the caller's encoder to say.
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	var value any = plain(r)
	if r.Status == StatusDenied {
		value = struct {
			plain
			ExitCode *int `json:"exit_code,omitempty"`
		}{plain: plain(r)}
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// Capture is what the run left behind.
type Capture struct {
	Stdout  Stream  `json:"stdout"`
	Stderr  Stream  `json:"stderr"`
	Sandbox Sandbox `json:"sandbox"`
	// Writes is what the command changed, where it wrote into a view.
	Writes *Writes `json:"writes,omitempty"`
	// Tree is the content of the work space before and after, where it was asked for.
	Tree *Tree `json:"tree,omitempty"`
}

// The kinds of a [Write].
const (
	WriteCreated  = "created"
	WriteModified = "modified"
	WriteDeleted  = "deleted"
)

// Writes are what a command changed in a copy-on-write view: every name at which
// there is something else than before.
type Writes struct {
	Created  int     `json:"created"`
	Modified int     `json:"modified"`
	Deleted  int     `json:"deleted"`
	Bytes    int64   `json:"bytes"`  // of the files that were created or modified
	SHA256   string  `json:"sha256"` // of the whole list, each write as one line of JSON
	List     []Write `json:"list"`
	More     int     `json:"more,omitempty"` // how many more there were than are kept
}

// Write is one of them.
type Write struct {
	Path string `json:"path"` // absolute; what is no UTF-8 in it is replaced
	// PathBase64 is the path where it is no UTF-8.
	PathBase64 string `json:"path_base64,omitempty"`
	Op         string `json:"op" required:"true"` // created | modified | deleted
	Type       string `json:"type"`               // file | directory | symlink | fifo | socket | device: what is there, of a deletion what was there
	Was        string `json:"was,omitempty"`      // what was there, where it was of another type
	Mode       string `json:"mode,omitempty"`     // octal permissions
	Size       int64  `json:"size,omitempty"`
	SHA256     string `json:"sha256,omitempty"` // of a file's content
	Target     string `json:"target,omitempty"` // of a symlink
	Link       string `json:"link,omitempty"`   // another path of this file, which is the same file
}

// Stream is one captured output stream. Bytes and SHA256 are of everything written, Text is its kept part.
type Stream struct {
	Bytes     int64  `json:"bytes"`
	Text      string `json:"text"`
	Base64    string `json:"base64,omitempty"` // instead of Text when the bytes are not UTF-8
	Truncated bool   `json:"truncated"`
	SHA256    string `json:"sha256"`
}

// Mask is a file in whose place the command saw another content.
type Mask struct {
	Path   string `json:"path"`           // as resolved
	With   string `json:"with,omitempty"` // the file of that content; "" is none
	SHA256 string `json:"sha256"`         // of that content, in hexadecimal
}

// Sandbox is the evidence of one run: what was asked for and what was verified to be in force.
type Sandbox struct {
	Backend         string    `json:"backend"` // native | landlock | none
	Profile         string    `json:"profile"`
	Tags            []string  `json:"tags"`
	ReadPaths       []string  `json:"read_paths"`  // as resolved
	WritePaths      []string  `json:"write_paths"` // as resolved
	DenyReadPaths   []string  `json:"deny_read_paths"`
	DenyWritePaths  []string  `json:"deny_write_paths"`
	DenyExecPaths   []string  `json:"deny_exec_paths,omitempty"`
	Masks           []Mask    `json:"masks,omitempty"`
	NestedUserns    string    `json:"nested_userns,omitempty"` // namespaces or mounts, where the command can make user namespaces
	Controls        []Control `json:"controls"`
	NetworkIsolated bool      `json:"network_isolated"`
	ProcessIsolated bool      `json:"process_isolated"`
	TimeoutEnforced bool      `json:"timeout_enforced"`
	CgroupRequested bool      `json:"cgroup_requested"`
	CgroupEnabled   bool      `json:"cgroup_enabled"`
	SeccompProfile  string    `json:"seccomp_profile"`
	Ceiling         string    `json:"ceiling,omitempty"` // digest of what the administrator of the machine allows at most
	SeccompEnabled  bool      `json:"seccomp_enabled"`
	Session         string    `json:"session,omitempty"`     // the name of the session that the command ran in
	PlanDigest      string    `json:"plan_digest,omitempty"` // of what its session was asked for: sha256:…
	Observer        string    `json:"observer,omitempty"`    // asked for: "observed", or why nothing was
	Used            []Use     `json:"used,omitempty"`        // of what was declared by name, what an observed command used
	Narrowed        []string  `json:"narrowed,omitempty"`    // what it went without that its session has
	Denied          bool      `json:"denied"`
	Reason          string    `json:"reason"`
	Usage           Usage     `json:"usage"`
	Asked           *Asked    `json:"asked,omitempty"` // what the run was asked for, for those that must stay within it
	// GitSettings are the settings of git that the command made and that were taken
	// over into the files outside.
	GitSettings []GitSettings `json:"git_settings,omitempty"`
	// Signatures are what git asked the person's key to sign, in order.
	Signatures     []Signature `json:"signatures,omitempty"`
	SignaturesMore int         `json:"signatures_more,omitempty"` // how many more there were than are kept
	Denials        []Denial    `json:"denials"`                   // refused at run time: known for a fact, unless its certainty is inferred
	// Connections are what the command asked of the network by name, allowed or
	// not, in the order of their ends; empty when it has no gateway.
	Connections     []Connection `json:"connections,omitempty"`
	ConnectionsMore int          `json:"connections_more,omitempty"` // how many more there were than are kept
}

// Observed in the evidence says that all calls of the command were observed. It
// stands alone, or before a ";".
const Observed = "observed"

// Use is a declared path, or a socket, that a command used.
type Use struct {
	Path  string `json:"path" required:"true"`
	Write bool   `json:"write"` // something was to be written there
}

// Asked is what the sandbox was asked for: a bound for the runs that the command,
// or who started it, has made within it.
type Asked struct {
	Workspace    string       `json:"workspace" required:"true"` // absolute
	Home         string       `json:"home"`
	Capabilities Capabilities `json:"capabilities" required:"true"` // of a variable that was set by hand there is the name alone, among env.pass
	TimeoutNS    int64        `json:"timeout_ns"`                   // in place of timeout_seconds; 0 is none, -1 lifts it
	MemoryBytes  int64        `json:"memory_bytes"`                 // in place of memory_mb; 0 is none
	Require      []string     `json:"require"`
	PlainGit     bool         `json:"plain_git"` // git was under no policy inside
}

// GitSettings are settings of one configuration file of git.
type GitSettings struct {
	Path string   `json:"path"`
	Keys []string `json:"keys"` // canonical
}

// Signature is one request of git for a signature.
type Signature struct {
	Time      string `json:"time" required:"true"`    // RFC 3339, UTC
	Verdict   string `json:"verdict" required:"true"` // signed | refused
	Reason    string `json:"reason,omitempty"`        // of a refusal
	Kind      string `json:"kind,omitempty"`          // commit | tag; "" where it was neither
	Object    string `json:"object,omitempty"`        // the name of the signed object, in hexadecimal digits
	Committer string `json:"committer,omitempty"`     // NAME <ADDRESS>, or who made the tag
	Key       string `json:"key,omitempty"`           // the fingerprint of the key
}

// Control is one layer: what was asked, what is in force.
type Control struct {
	Name      string `json:"name" required:"true"` // user_namespace, landlock, …
	Requested string `json:"requested"`            // what was asked for, in words of the layer
	Enforced  string `json:"enforced"`
	State     string `json:"state" required:"true"` // enforced | degraded | absent | not_requested
	Reason    string `json:"reason"`
}

// Usage is what the run used, and which layer measured it.
type Usage struct {
	PeakMemoryBytes int64   `json:"peak_memory_bytes"`
	CPUSeconds      float64 `json:"cpu_seconds"`
	PeakPids        int64   `json:"peak_pids"`
	ReadBytes       int64   `json:"read_bytes"`
	WriteBytes      int64   `json:"write_bytes"`
	MeasuredBy      string  `json:"measured_by"` // cgroup | rusage
}

// The certainties of a [Denial].
const (
	Exact    = "exact"    // asked for while the command was observed
	Inferred = "inferred" // read from what a failed command printed, or was given as its arguments
	Proved   = "proved"   // the command was run again: it passes with its remedies together, and without this one it does not
)

// The kinds of a [Denial] that says what would have been different outside.
const (
	KindHidden   = "hidden"    // exists outside, and not inside
	KindReadOnly = "read_only" // can be written outside
	KindSocket   = "socket"    // a socket file that cannot be connected to
	KindName     = "name"      // a host that is not allowed
	KindCall     = "call"      // a system call that is refused
	KindLimit    = "limit"     // a limit ended the command, or is not in force
)

// Denial is one thing refused while the command ran.
type Denial struct {
	Layer  string `json:"layer"`
	What   string `json:"what"`
	Reason string `json:"reason"`
	Path   string `json:"path,omitempty"`   // the file it is about, absolute; "" when it is about none
	Kept   string `json:"kept,omitempty"`   // where what was put aside is kept, absolute
	Remedy string `json:"remedy,omitempty"` // what a person does about it
	// What follows is of a denial that says what would have been different
	// outside of the sandbox.
	Kind      string `json:"kind,omitempty"`      // hidden | read_only | socket | name | call | limit
	Certainty string `json:"certainty,omitempty"` // exact | inferred | proved; "" is known for a fact
	Declare   string `json:"declare,omitempty"`   // the remedy, as repo_config.yaml says it below sandbox
	Process   string `json:"process,omitempty"`   // the name of the process that asked first: proc_pid_comm(5)
	Call      string `json:"call,omitempty"`      // the system call
	Count     int    `json:"count,omitempty"`     // how often it was asked for
}

// Guess says after the reason of a denial, for people, that it was inferred, or
// proved.
func (d Denial) Guess() string {
	if d.Certainty == Inferred || d.Certainty == Proved {
		return " (" + d.Certainty + ")"
	}
	return ""
}
