package record

import "encoding/json"

// Schema is the value of the "schema" key of every line.
const Schema = "ethos/v1"

// The kinds of an [Action].
const (
	KindExec  = "exec"  // Argv is executed
	KindShell = "shell" // Script is run by a shell, as in sh -c
	KindFile  = "file"  // an agent's read, write or edit tool
	KindFetch = "fetch" // an agent's web tool; URL
	KindMCP   = "mcp"   // a Model Context Protocol tool; Server, Name, Input
	KindEvent = "event" // any other event of an agent; never executed
)

// The trust modes of an [Actor], strictest first. They are not ordered as strings; see [StricterMode].
const (
	ModePlan   = "plan"   // read, change nothing
	ModeVerify = "verify" // build and test, change nothing in the work space
	ModeSafe   = "safe"   // the default
	ModeAuto   = "auto"   // no person is asked; the kernel boundary is required
)

// The effects of a policy and the verdicts of a [Decision], least strict first.
const (
	VerdictAllow = "allow"
	VerdictWarn  = "warn" // runs; the message is shown
	VerdictAsk   = "ask"  // does not run until a person approves
	VerdictDeny  = "deny" // does not run
)

// The values of [Result.Status].
const (
	StatusExited   = "exited"   // ended by itself; ExitCode
	StatusSignaled = "signaled" // ended by a signal; Signal
	StatusTimeout  = "timeout"  // killed at the wall clock limit
	StatusOOM      = "oom"      // killed at the memory limit
	StatusDenied   = "denied"   // nothing ran; Reason
)

// Action is what is to be done. Exactly the fields of its Kind are set.
type Action struct {
	Kind   string          `json:"kind" required:"true"`
	Argv   []string        `json:"argv,omitempty"`
	Script string          `json:"script,omitempty"`
	File   *FileAction     `json:"file,omitempty"`
	URL    string          `json:"url,omitempty"`
	Server string          `json:"server,omitempty"`
	Name   string          `json:"name,omitempty"`
	Input  json.RawMessage `json:"input,omitempty"`     // the agent's own input object, as sent
	Cwd    string          `json:"cwd" required:"true"` // absolute
	// Interactive says that the agent may type into what this starts, by calls that report nothing:
	// it holds a terminal, or its event does not say.
	Interactive bool `json:"interactive,omitempty"`
	// Workspace is the git work tree that contains Cwd, or else Cwd; absolute.
	Workspace string `json:"workspace" required:"true"`
}

// FileAction is the operation of an agent's file tool.
type FileAction struct {
	Op     string `json:"op" required:"true"` // read | write | edit | delete | move | list
	Path   string `json:"path" required:"true"`
	Target string `json:"target,omitempty"` // destination of a move
	Bytes  int64  `json:"bytes,omitempty"`  // length of the new content
	SHA256 string `json:"sha256,omitempty"` // of the new content, hex
	// Also holds the other files of the same tool call, such as a patch that changes several.
	Also []FileAction `json:"also,omitempty"`
}

// Actor says who asks, and how far they are trusted.
type Actor struct {
	Agent   string `json:"agent"`   // claude, codex, …; empty for a person or a script
	Event   string `json:"event"`   // the agent's own name of the event, such as PreToolUse
	Tool    string `json:"tool"`    // the agent's own name of the tool, such as Bash
	Session string `json:"session"` // the agent's session id
	Mode    string `json:"mode" required:"true"`
	// AdminApproved is set only by ethos-decide, after a person has approved; it is never read from
	// input.
	AdminApproved bool `json:"admin_approved"`
	// Confined says that the answer to the agent puts the call inside a boundary. It is set only by
	// ethos-decide --confine, and never read from input.
	Confined bool `json:"confined,omitempty"`
	// Parent describes the actor that started this one, if it is a sub-agent. The child is never
	// trusted further than its parent: see [Actor.Bounded].
	Parent *Parent `json:"parent,omitempty"`
}

// Parent is what applied to the actor that started a sub-agent, including the bounds of its own
// parent. It narrows the child and grants it nothing.
type Parent struct {
	Session string `json:"session"` // the parent's session id
	Mode    string `json:"mode" required:"true"`
	// Capabilities are those effective for the parent; absent if only the mode is a bound.
	Capabilities *Capabilities `json:"capabilities,omitempty"`
}

// Facts is what the analysis has established about an [Action]. Lists are never null.
type Facts struct {
	Shell        Shell        `json:"shell" required:"true" brief:"true"`
	Git          []Git        `json:"git" required:"true"`
	Files        []File       `json:"files" required:"true"`
	Ethos        []Ethos      `json:"ethos,omitempty"`    // absent if there is none
	Services     []Service    `json:"services,omitempty"` // absent if there is none
	Tool         Tool         `json:"tool" required:"true" brief:"true"`
	Capabilities Capabilities `json:"capabilities" required:"true"` // effective: the tool's, narrowed and granted
	Repo         Repo         `json:"repo" required:"true"`
	// Incomplete names what could not be established; see the Incomplete constants.
	Incomplete []string `json:"incomplete" required:"true"`
}

// Codes of [Facts.Incomplete] and [Shell] analysis.
const (
	IncompleteParse       = "parse_error"
	IncompleteUnresolved  = "unresolved_command"
	IncompleteDepth       = "depth_exceeded"
	IncompleteSize        = "size_exceeded"
	IncompleteGitRepo     = "git_repository_unreadable"
	IncompleteGitTarget   = "git_target_unresolved"
	IncompleteRepoConfig  = "repo_config_invalid"
	IncompleteFile        = "file_unresolved"
	IncompleteOpaque      = "opaque_code"
	IncompleteNotUTF8     = "not_utf8"
	IncompleteUnknownTool = "unknown_profile"
)

// Shell is what a script would run, read and write. For an exec action it describes the argv as one
// simple command. The zero value (IR "") says that the action has no commands.
type Shell struct {
	IR            string    `json:"ir,omitempty"` // version of this analysis: "1"
	Parsed        bool      `json:"parsed"`
	Error         string    `json:"error,omitempty"`       // the parse error, with line:column
	Unfinished    bool      `json:"unfinished,omitempty"`  // a shell that reads it line by line would wait for more input: an open quote, loop or here-document
	Risks         []string  `json:"risks"`                 // sorted, unique codes
	Commands      []Command `json:"commands" brief:"true"` // in source order
	Reads         []PathUse `json:"reads"`
	Writes        []PathUse `json:"writes"`
	Unresolved    bool      `json:"unresolved"`     // a command name is not static
	DepthExceeded bool      `json:"depth_exceeded"` // nesting exceeded the limit
}

// Command is one simple command in canonical form: quotes and wrappers are removed, aliases and
// functions of the same script are followed.
type Command struct {
	Name        string       `json:"name" brief:"true"`   // base name; "" if dynamic
	Path        string       `json:"path"`                // the command word as written after unquoting: rm, /bin/rm, ./x
	Argv        []*string    `json:"argv"`                // unquoted words, Argv[0] the command; null if a word is not static
	Raw         string       `json:"raw"`                 // source text of the whole command
	Wrappers    []string     `json:"wrappers"`            // outermost first: sudo, env, timeout
	Within      []string     `json:"within"`              // enclosing constructs, outermost first: if, subshell, function:f, sh -c
	Depth       int          `json:"depth"`               // how often nested code was parsed again; 0 is the script itself
	Line        int          `json:"line" brief:"true"`   // 1-based, in the outermost script
	Column      int          `json:"column" brief:"true"` // 1-based, bytes
	Background  bool         `json:"background"`
	PipedFrom   []string     `json:"piped_from"` // names of the commands upstream in its pipeline, first to last
	PipedTo     []string     `json:"piped_to"`   // names of the commands downstream, first to last
	Assignments []Assignment `json:"assignments"`
	Dynamic     bool         `json:"dynamic"`         // the command word is not static
	Opaque      bool         `json:"opaque"`          // it runs code that the analysis cannot see
	Code        string       `json:"code,omitempty"`  // inline code of an interpreter that is not a shell: python -c, perl -e; the input of a database client
	Names       []string     `json:"names,omitempty"` // the identifiers in that code, sorted; without strings and comments
	// Interactive says that it runs commands that are typed into it: a shell or an interpreter
	// without code, a remote shell, or an editor, whose standard input the script leaves to its
	// caller.
	Interactive bool `json:"interactive,omitempty"`
}

// Assignment is NAME=VALUE before a command, or given to a wrapper such as env.
type Assignment struct {
	Name  string  `json:"name"`
	Value *string `json:"value"` // null if not static
}

// PathUse is a path that a command reads or writes. Path is relative to the work space if it is
// inside, else absolute. It begins with "~" if it is in the home directory and that is nearer. It
// is cleaned; globs stay globs.
type PathUse struct {
	Path    string `json:"path" required:"true"`
	By      string `json:"by"`                 // command name, or "redirect"
	Op      string `json:"op" required:"true"` // read | write | append | create | truncate | delete | move | mode | link | mount
	Certain bool   `json:"certain"`
	Outside bool   `json:"outside,omitempty"` // it is outside of the work space, of temporary directories and of caches
	// ViaSymlink: the path is where a symbolic link in another path of the same list leads.
	ViaSymlink bool `json:"via_symlink,omitempty"`
	// Whole: the content of everything below the directory is meant, hidden files included: cp -r,
	// chmod -R, find -exec, a server of files.
	Whole bool `json:"whole,omitempty"`
}

// Git is one git command line at any place in the script.
type Git struct {
	Subcommand    string            `json:"subcommand"`         // after aliases
	AliasOf       string            `json:"alias_of,omitempty"` // the word as written, if it is an alias
	Args          []*string         `json:"args"`               // after the subcommand; null if a word is not static
	Globals       map[string]string `json:"globals"`            // -C, --git-dir, … each with its (last) value
	Class         []string          `json:"class"`              // read worktree index refs history config remote exec
	Dangers       []string          `json:"dangers"`            // sorted, unique codes
	Loses         []string          `json:"loses,omitempty"`    // sorted: existing uncommitted work that it discards: modified staged untracked ignored stash commits unknown
	Refspecs      []Refspec         `json:"refspecs"`
	Remote        string            `json:"remote,omitempty"`
	BranchTargets []string          `json:"branch_targets"` // remote branches (short names) a push would move or delete
	Config        []GitConfig       `json:"config"`
	Paths         []string          `json:"paths"`   // pathspecs
	Unknown       []string          `json:"unknown"` // options the grammar does not know
}

// Refspec is one resolved src:dst of push or fetch.
type Refspec struct {
	Src    string `json:"src"`
	Dst    string `json:"dst"`
	Force  bool   `json:"force"`
	Delete bool   `json:"delete"`
}

// GitConfig is a configuration value given on the command line or in the environment.
type GitConfig struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	Via   string `json:"via"` // -c | --config-env | GIT_CONFIG_* | config (the subcommand)
}

// Ethos is one call of a program of ethos at any place in the script.
type Ethos struct {
	Program string `json:"program" required:"true"` // ethos-facts, …
	Command string `json:"command"`                 // the program's command, or its default one
	// Widens lists what the call would have beyond what is effective for the action, and what it
	// would change that only a person may change.
	Widens []Widening `json:"widens"`
	// Unknown lists the words that prevent the analysis of the call: words that the program does
	// not accept, and "…" for one that is not static at a position where an option is possible.
	Unknown   []string `json:"unknown"`
	PipedFrom []string `json:"piped_from"` // names of the commands upstream in its pipeline, first to last
}

// The values of [Widening.By].
const (
	WidensByOption      = "option"
	WidensByCommand     = "command"     // a command for a person only
	WidensByInput       = "input"       // records of unknown origin
	WidensByEnvironment = "environment" // a variable
	WidensByDirectory   = "directory"   // the boundary of another work space
)

// Widening is one part of a call of a program of ethos that would widen a boundary.
type Widening struct {
	By     string `json:"by" required:"true"`
	Option string `json:"option"` // the name of the option, command or variable
	Value  string `json:"value"`  // "" if it has none, or it is not static
}

// Tool is the catalog entry that the action matches; ID "" if none does.
type Tool struct {
	ID           string       `json:"id" brief:"true"`
	Category     string       `json:"category,omitempty"`
	Format       string       `json:"format,omitempty" brief:"true"` // output format, for findings
	Managed      bool         `json:"managed"`
	Capabilities Capabilities `json:"capabilities"` // as declared in the catalog
}

// Capabilities is what an action may use of the machine. The zero value of a limit means "as the profile".
type Capabilities struct {
	SandboxProfile      string   `json:"sandbox_profile"`
	SeccompProfile      string   `json:"seccomp_profile"`
	SeccompProfilePath  string   `json:"seccomp_profile_path,omitempty"`
	Tags                []string `json:"tags"`
	ReadPaths           []string `json:"read_paths"`
	WritePaths          []string `json:"write_paths"`
	DenyReadPaths       []string `json:"deny_read_paths"`
	AllowReadWithinDeny []string `json:"allow_read_within_deny"`
	DenyWritePaths      []string `json:"deny_write_paths"`
	DenyExecPaths       []string `json:"deny_exec_paths,omitempty"` // no file in these trees can be executed or mapped as code
	Masks               []string `json:"masks,omitempty"`           // FILE=FAKE: FILE shows the content of FAKE, or is empty without FAKE
	CachePaths          []string `json:"cache_paths"`
	View                string   `json:"view,omitempty"` // copy-on-write: writes go to a view of the writable directories; "" writes through
	UnixSockets         []string `json:"unix_sockets"`
	UnixFamily          string   `json:"unix_family,omitempty"`   // none: the command cannot create Unix sockets other than pairs; "" permits it
	NestedUserns        string   `json:"nested_userns,omitempty"` // namespaces: the command can create user namespaces; mounts: it can also mount in them; "" is none
	RequiresNetwork     bool     `json:"requires_network"`
	RequiresGit         bool     `json:"requires_git"`
	RequiresEnv         bool     `json:"requires_env"`
	RequiresProcesses   bool     `json:"requires_processes,omitempty" gone:"true"` // of older records; without effect
	Network             Network  `json:"network"`
	Env                 Env      `json:"env"`
	Git                 string   `json:"git"`                   // none | read | wrapped | full
	EnvFiles            string   `json:"env_files,omitempty"`   // read: environment files of the work space can be read; "" hides them
	GitSigning          string   `json:"git_signing,omitempty"` // own: commits and tags of the person are signed from outside; committer: also those by other authors; "" is none
	Enforce             string   `json:"enforce"`               // cgroup | available
	TimeoutSeconds      int64    `json:"timeout_seconds"`
	MemoryMB            int64    `json:"memory_mb"`
	CPUQuotaPercent     int64    `json:"cpu_quota_percent"`
	Pids                int64    `json:"pids"`
	OpenFiles           int64    `json:"open_files"`
	OutputBytes         int64    `json:"output_bytes"`
	GrantedBy           []string `json:"granted_by"` // the source of a widening: repo_config.yaml:sandbox.network_tools, --grant …
}

// Network is the network access of the command.
type Network struct {
	Mode         string   `json:"mode"` // none | loopback | proxy | host
	AllowDomains []string `json:"allow_domains"`
	DenyDomains  []string `json:"deny_domains"`
	ConnectPorts []string `json:"connect_ports,omitempty"` // TCP ports that it may connect to, as decimal numbers, or only none; empty is every port
	BindPorts    []string `json:"bind_ports,omitempty"`    // TCP ports that it may bind, in the same form; 0 is one that the kernel chooses
	SNI          string   `json:"sni,omitempty"`           // allow: a TLS client of an allowed host may name another host, or hide the name; "" is require
	// CABundle is a file with the certificate and the key of the person's authority, with which TLS
	// is inspected; "" inspects none.
	CABundle string `json:"ca_bundle,omitempty"`
	// AllowRequests are rules such as "api.example.com GET,HEAD /v1/*". A host that one of them
	// names gets only such requests.
	AllowRequests []string `json:"allow_requests,omitempty"`
	// Inject are credentials that the command uses without having them, such as "api.example.com
	// Authorization=API_TOKEN".
	Inject []string `json:"inject,omitempty"`
}

// Env is the part of the environment that the command gets in addition to the fixed allow-list.
type Env struct {
	Pass []string          `json:"pass"`
	Set  map[string]string `json:"set"`
}

// Repo is the git repository that encloses the action's Cwd, read without running git.
type Repo struct {
	Root              string            `json:"root"` // "" outside a repository
	GitDir            string            `json:"git_dir,omitempty"`
	CommonDir         string            `json:"common_dir,omitempty"`
	Branch            string            `json:"branch"` // "" if detached
	Detached          bool              `json:"detached"`
	Upstream          string            `json:"upstream,omitempty"` // remote/branch
	PushDefault       string            `json:"push_default,omitempty"`
	Remotes           []string          `json:"remotes"`
	Aliases           map[string]string `json:"aliases"`
	ProtectedBranches []string          `json:"protected_branches"` // patterns
	Config            string            `json:"config,omitempty"`   // path of repo_config.yaml, if there is one
	// Configuration lists each configuration file that was used: the work space's own first, then
	// those of the work trees that contain it.
	Configuration []Configuration `json:"configuration,omitempty"`
}

// Configuration is a file by which a work space configures what may be done in it.
type Configuration struct {
	Path    string   `json:"path" required:"true"`    // absolute
	Digest  string   `json:"digest" required:"true"`  // "sha256:" and the SHA-256 of the bytes that were read, in hex
	Trusted bool     `json:"trusted" required:"true"` // a person has accepted this content of this file at this place
	Widens  []string `json:"widens" required:"true"`  // "key: value" of what widens; effective only if trusted
}

// Decision is the result of policy for a record.
type Decision struct {
	Verdict string        `json:"verdict" required:"true"`
	Matches []Match       `json:"matches" required:"true"` // every policy that matched, strictest first
	Errors  []PolicyError `json:"errors" required:"true"`
	Policy  PolicySet     `json:"policy" required:"true"`
	Subject string        `json:"subject" required:"true"` // see [Line.Subject]
	// Approval is a person's approval of what was refused or asked about; absent if there was none.
	Approval *Approval `json:"approval,omitempty"`
	// Seal reveals that a decision was edited; see [Decision.Sealed].
	Seal string `json:"seal,omitempty"`
	// DurationMS is how long the decision took, in milliseconds. Neither Subject nor Seal covers
	// it.
	DurationMS float64 `json:"duration_ms,omitempty"`
}

// Match is one policy that matched.
type Match struct {
	ID        string `json:"id" required:"true"`
	Pack      string `json:"pack"`
	Principle string `json:"principle"`
	Effect    string `json:"effect" required:"true"`
	Message   string `json:"message"`
	Remedy    string `json:"remedy"`
	File      string `json:"file"` // the file that defines the policy; pack:core/… for shipped ones
	Line      int    `json:"line"`
}

// PolicyError is a policy that could not be evaluated; it denies.
type PolicyError struct {
	ID      string `json:"id"`
	Code    string `json:"code"` // policy.error | policy.cost | policy.deadline | policy.incomplete | decision.no_facts
	Message string `json:"message"`
}

// Error replaces a line that was not valid, on a line of its own.
type Error struct {
	Stage       string `json:"stage" required:"true"` // facts | decide | sandbox | trace
	Line        int    `json:"line" required:"true"`  // 1-based, of that stage's input
	Code        string `json:"code" required:"true"`
	Message     string `json:"message" required:"true"`
	InputSHA256 string `json:"input_sha256"`
	InputPrefix string `json:"input_prefix"` // at most 200 bytes, valid UTF-8
}
