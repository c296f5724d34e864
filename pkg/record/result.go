package record

// Result is the outcome of a decided action.
type Result struct {
	Status     string  `json:"status" required:"true"`
	Reason     string  `json:"reason,omitempty"`  // code, for denied: decision.deny, decision.subject_mismatch, sandbox.setup …
	Message    string  `json:"message,omitempty"` // for people
	Hint       string  `json:"hint,omitempty"`
	ExitCode   int     `json:"exit_code"`         // omitted if nothing ran
	Signal     string  `json:"signal"`            // SIGKILL, …
	Started    string  `json:"started,omitempty"` // RFC 3339, nanoseconds, UTC
	DurationMS float64 `json:"duration_ms"`
	Capture    Capture `json:"capture"`
}

// MarshalJSON omits the exit status if nothing ran. The caller's encoder decides whether text is
// escaped for HTML.
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	var value any = plain(r)
	if r.Status == StatusDenied {
		value = struct {
			plain
			ExitCode *int `json:"exit_code,omitempty"`
		}{plain: plain(r)}
	}
	return encode(value)
}

// Capture is the output and the changes of a run.
type Capture struct {
	Stdout  Stream  `json:"stdout"`
	Stderr  Stream  `json:"stderr"`
	Sandbox Sandbox `json:"sandbox"`
	// Writes is what the command changed, if it wrote to a view.
	Writes *Writes `json:"writes,omitempty"`
	// Tree is the content of the work space before and after, if it was requested.
	Tree *Tree `json:"tree,omitempty"`
}

// The kinds of a [Write].
const (
	WriteCreated  = "created"
	WriteModified = "modified"
	WriteDeleted  = "deleted"
)

// Writes lists the changes of a command in a copy-on-write view: every name that then had other
// content than before.
type Writes struct {
	Created  int     `json:"created"`
	Modified int     `json:"modified"`
	Deleted  int     `json:"deleted"`
	Bytes    int64   `json:"bytes"`  // of the files that were created or modified
	SHA256   string  `json:"sha256"` // of the whole list, each write as one line of JSON
	List     []Write `json:"list"`
	More     int     `json:"more,omitempty"` // how many more there were than are stored
}

// Write is one change.
type Write struct {
	Path string `json:"path"` // absolute; bytes that are not UTF-8 are replaced
	// PathBase64 is the path if it is not UTF-8.
	PathBase64 string `json:"path_base64,omitempty"`
	Op         string `json:"op" required:"true"` // created | modified | deleted
	Type       string `json:"type"`               // file | directory | symlink | fifo | socket | device: the new type or, of a deletion, the old one
	Was        string `json:"was,omitempty"`      // the old type, if it is another one
	Mode       string `json:"mode,omitempty"`     // octal permissions
	Size       int64  `json:"size,omitempty"`
	SHA256     string `json:"sha256,omitempty"` // of a file's content
	Target     string `json:"target,omitempty"` // of a symlink
	Link       string `json:"link,omitempty"`   // another path of the same file
}

// Stream is one captured output stream. Bytes and SHA256 cover everything that was written, Text is
// the part that was kept.
type Stream struct {
	Bytes     int64  `json:"bytes"`
	Text      string `json:"text"`
	Base64    string `json:"base64,omitempty"` // instead of Text if the bytes are not UTF-8
	Truncated bool   `json:"truncated"`
	SHA256    string `json:"sha256"`
}

// Mask is a file for which the command saw other content.
type Mask struct {
	Path   string `json:"path"`           // as resolved
	With   string `json:"with,omitempty"` // the file of that content; "" is none
	SHA256 string `json:"sha256"`         // of that content, in hexadecimal
}

// Sandbox is the evidence of one run: what was requested, and what was verified to be enforced.
type Sandbox struct {
	Backend         string    `json:"backend"` // native | bwrap | landlock | seatbelt | none | outer
	Profile         string    `json:"profile"`
	Tags            []string  `json:"tags"`
	ReadPaths       []string  `json:"read_paths"`  // as resolved
	WritePaths      []string  `json:"write_paths"` // as resolved
	DenyReadPaths   []string  `json:"deny_read_paths"`
	DenyWritePaths  []string  `json:"deny_write_paths"`
	DenyExecPaths   []string  `json:"deny_exec_paths,omitempty"`
	Masks           []Mask    `json:"masks,omitempty"`
	NestedUserns    string    `json:"nested_userns,omitempty"` // namespaces or mounts, if the command can create user namespaces
	Controls        []Control `json:"controls"`
	NetworkIsolated bool      `json:"network_isolated"`
	ProcessIsolated bool      `json:"process_isolated"`
	TimeoutEnforced bool      `json:"timeout_enforced"`
	CgroupRequested bool      `json:"cgroup_requested"`
	CgroupEnabled   bool      `json:"cgroup_enabled"`
	SeccompProfile  string    `json:"seccomp_profile"`
	Ceiling         string    `json:"ceiling,omitempty"` // digest of the upper bound that the administrator sets
	SeccompEnabled  bool      `json:"seccomp_enabled"`
	Session         string    `json:"session,omitempty"`     // the name of the session that the command ran in
	PlanDigest      string    `json:"plan_digest,omitempty"` // of what was requested for its session: sha256:…
	Observer        string    `json:"observer,omitempty"`    // requested: "observed", or why nothing was observed
	Used            []Use     `json:"used,omitempty"`        // of what was declared by name, the part that an observed command used
	Narrowed        []string  `json:"narrowed,omitempty"`    // what its session has and the command did not get
	Denied          bool      `json:"denied"`
	Reason          string    `json:"reason"`
	Usage           Usage     `json:"usage"`
	Asked           *Asked    `json:"asked,omitempty"` // bound for the runs that must stay within this one
	// GitSettings are git settings that the command made and that were copied to the files outside.
	GitSettings []GitSettings `json:"git_settings,omitempty"`
	// Signatures are git's requests for a signature with the person's key, in order.
	Signatures     []Signature `json:"signatures,omitempty"`
	SignaturesMore int         `json:"signatures_more,omitempty"` // how many more there were than are stored
	Denials        []Denial    `json:"denials"`                   // refused at run time; a fact, unless its certainty is inferred
	// Connections are the command's requests to the network by name, allowed or not, in the order
	// in which they ended. It is empty if the command has no gateway.
	Connections     []Connection `json:"connections,omitempty"`
	ConnectionsMore int          `json:"connections_more,omitempty"` // how many more there were than are stored
	Lookups         []Lookups    `json:"lookups,omitempty"`
}

// Observed in the evidence says that all calls of the command were observed. It is the whole text,
// or precedes a ";".
const Observed = "observed"

// Use is a declared path, or a socket, that a command used.
type Use struct {
	Path  string `json:"path" required:"true"`
	Write bool   `json:"write"` // the use was a write
}

// Asked is a request to the sandbox: a bound for the runs that the command, or whoever started it,
// starts within it.
type Asked struct {
	Workspace    string       `json:"workspace" required:"true"` // absolute
	Home         string       `json:"home"`
	Capabilities Capabilities `json:"capabilities" required:"true"` // a variable that was set by hand has only its name here, in env.pass
	TimeoutNS    int64        `json:"timeout_ns"`                   // replaces timeout_seconds; 0 is none, -1 removes the limit
	MemoryBytes  int64        `json:"memory_bytes"`                 // replaces memory_mb; 0 is none
	Require      []string     `json:"require"`
	PlainGit     bool         `json:"plain_git"` // no policy applied to git inside
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
	Kind      string `json:"kind,omitempty"`          // commit | tag; "" if it was neither
	Object    string `json:"object,omitempty"`        // the name of the signed object, in hexadecimal digits
	Committer string `json:"committer,omitempty"`     // NAME <ADDRESS>, or the tagger
	Key       string `json:"key,omitempty"`           // the fingerprint of the key
}

// Control is one layer: what was requested, and what is enforced.
type Control struct {
	Name      string `json:"name" required:"true"` // user_namespace, landlock, …
	Requested string `json:"requested"`            // what was requested, in the terms of the layer
	Enforced  string `json:"enforced"`
	State     string `json:"state" required:"true"` // enforced | degraded | absent | not_requested
	Reason    string `json:"reason"`
}

// Usage is the resource usage of the run, and the layer that measured it.
type Usage struct {
	PeakMemoryBytes int64   `json:"peak_memory_bytes"`
	CPUSeconds      float64 `json:"cpu_seconds"`
	PeakPids        int64   `json:"peak_pids"`
	ReadBytes       int64   `json:"read_bytes"`
	WriteBytes      int64   `json:"write_bytes"`
	MeasuredBy      string  `json:"measured_by"` // cgroup | rusage | watch
}

// The certainties of a [Denial].
const (
	Exact    = "exact"    // requested while the command was observed
	Inferred = "inferred" // derived from what a failed command printed, or from its arguments
	Proved   = "proved"   // the command was run again: it succeeds with all its remedies, and not without this one
)

// The kinds of a [Denial] that says what would have been different outside of the sandbox.
const (
	KindHidden   = "hidden"    // exists outside, and not inside
	KindReadOnly = "read_only" // can be written outside
	KindSocket   = "socket"    // a socket file that cannot be connected to
	KindName     = "name"      // a host that is not allowed
	KindCall     = "call"      // a system call that is refused
	KindLimit    = "limit"     // a limit ended the command, or is not in force
)

// Denial is one refusal during the run of the command.
type Denial struct {
	Layer  string `json:"layer"`
	What   string `json:"what"`
	Reason string `json:"reason"`
	Path   string `json:"path,omitempty"`   // the file that it concerns, absolute; "" if none
	Kept   string `json:"kept,omitempty"`   // where a quarantined file is kept, absolute
	Remedy string `json:"remedy,omitempty"` // what a person does about it
	// The following fields belong to a denial that says what would have been different outside of
	// the sandbox.
	Kind      string `json:"kind,omitempty"`      // hidden | read_only | socket | name | call | limit
	Certainty string `json:"certainty,omitempty"` // exact | inferred | proved; "" is known for a fact
	Declare   string `json:"declare,omitempty"`   // the remedy, in the form of repo_config.yaml below sandbox
	Process   string `json:"process,omitempty"`   // the name of the process that requested it first: proc_pid_comm(5)
	Call      string `json:"call,omitempty"`      // the system call
	Count     int    `json:"count,omitempty"`     // how often it was requested
}

// Guess returns a text for people to follow the reason of a denial: that it was inferred, or
// proved.
func (d Denial) Guess() string {
	if d.Certainty == Inferred || d.Certainty == Proved {
		return " (" + d.Certainty + ")"
	}
	return ""
}
