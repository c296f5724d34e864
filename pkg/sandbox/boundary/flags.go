// Package boundary defines the flags that describe the boundary of one command, and turns
// them into the spec of a plan. Begin with [Flags.Spec].
package boundary

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/sandbox/plan"
)

// Flags describe the boundary of one command. The struct tags are those of the command-line
// model.
type Flags struct {
	Profile           string   `placeholder:"NAME" help:"Base: lint-offline, workspace, debug, agent-shell, agent-network, agent, test-loopback or build."`
	Agent             string   `placeholder:"NAME" help:"With the profile agent, which is then the base: the agent that the command starts, where the name of its program does not tell."`
	Workspace         string   `placeholder:"DIR" help:"The work space, by its path without links. Default: the git work tree around the working directory, else that directory."`
	Ro                []string `placeholder:"PATH" sep:"none" help:"Can be read. The work space itself, which most profiles write, is then only read."`
	Rw                []string `placeholder:"PATH" sep:"none" help:"Can be read and written."`
	DenyRead          []string `placeholder:"PATH" sep:"none" help:"Can be neither read nor written. With a * in it, the files and directories that match when the run begins: **/*.pem. Not those that come later."`
	DenyWrite         []string `placeholder:"PATH" sep:"none" help:"Cannot be written. With a * in it, as --deny-read."`
	DenyExec          []string `placeholder:"PATH" sep:"none" help:"No file there or below is executed or mapped as code. Interpreters read scripts there, and a copy elsewhere runs."`
	RoNoexec          []string `placeholder:"PATH" sep:"none" help:"--ro and --deny-exec of the path."`
	RwNoexec          []string `placeholder:"PATH" sep:"none" help:"--rw and --deny-exec of the path."`
	Mask              []string `placeholder:"FILE=FAKE" sep:"none" help:"The command sees, and cannot change, the content of FAKE in the place of FILE; none with FILE=. FAKE is what it can read anyway."`
	EnvFiles          string   `placeholder:"MODE" enum:",hidden,read" default:"" help:"Environment files of the work space, such as .env, that git has not: hidden, or read."`
	GitSigning        string   `placeholder:"WHOSE" enum:",none,own,committer" default:"" help:"git has commits and tags signed outside, with your key: your own, those that you commit, or none."`
	View              string   `placeholder:"KIND" enum:",copy-on-write" default:"" help:"Write into a view of the writable directories, and not into them: copy-on-write."`
	Net               string   `placeholder:"MODE" enum:",none,loopback,proxy,host" default:"" help:"How far the network reaches: none, loopback, proxy or host."`
	AllowDomain       []string `placeholder:"PATTERN" help:"A name, *.name, address or network, with an optional :PORT, that can be reached: --net proxy."`
	DenyDomain        []string `placeholder:"PATTERN" help:"With --net proxy: cannot be reached."`
	AllowConnect      []string `placeholder:"PORT" help:"TCP connects to these ports only, or to none; with --net loopback or host. It leaves the command TCP alone: no UDP."`
	AllowBind         []string `placeholder:"PORT" help:"TCP binds these ports only, 0 for one that the kernel chooses, or none. It leaves the command TCP alone: no UDP."`
	Sni               string   `placeholder:"MODE" enum:",require,allow" default:"" help:"With --net proxy: TLS must name the judged host (require), or may name another or none (allow); browsers need allow."`
	CaBundle          string   `placeholder:"FILE" help:"With --net proxy: certificate and key (PEM) of your authority, by which the TLS of the hosts of --allow-request and --inject is opened."`
	AllowRequest      []string `placeholder:"'HOST METHODS PATHS'" sep:"none" help:"A host gets such requests only: 'api.example.com GET,HEAD /v1/*'."`
	Inject            []string `placeholder:"'HOST HEADER=NAME'" sep:"none" help:"The command has a sentinel in the variable NAME; the host gets its value, in that header field."`
	ProxyEnv          bool     `help:"With --net proxy: HTTP_PROXY and its like name the proxy inside; without it none is needed."`
	Publish           []string `placeholder:"[ADDRESS:]HOSTPORT:PORT" sep:"none" help:"A port of the host's loopback that leads to a port inside."`
	PublishAny        bool     `help:"With --publish: also on addresses that other machines reach."`
	UnixSocket        []string `placeholder:"PATH" sep:"none" help:"A socket file of the host that can be connected to."`
	NoUnixSockets     bool     `help:"The command makes no Unix socket, but pairs that are connected to each other."`
	AllowNestedUserns Switch   `type:"choice" help:"The command can make user namespaces, as the sandbox of a browser does; =mounts: and mount in them, as rootless containers do."`
	Env               []string `placeholder:"NAME[=VALUE]" sep:"none" help:"Pass a variable on, or set one."`
	Timeout           Limit    `placeholder:"DURATION" help:"Wall-clock limit, such as 90s or 10m; 0 is none."`
	Memory            Limit    `placeholder:"SIZE" help:"Memory limit, such as 512M or 2G."`
	CPU               Limit    `placeholder:"PERCENT" name:"cpu" help:"CPU limit; 100 is one processor."`
	Pids              int64    `placeholder:"N" help:"Limit of processes and threads."`
	Debug             bool     `help:"The command may trace its own processes: gdb, strace, delve, LeakSanitizer."`
	Untimed           bool     `kong:"-"` // no time limit unless Timeout is given
	Require           []string `placeholder:"CONTROL" help:"Run only with these controls in full force: userns, landlock, seccomp, cgroup, …"`
}

// Limit is the value of a flag that limits a run. An empty value, as from an unset
// variable, is an error, because it would mean no limit.
type Limit string

// UnmarshalText implements [encoding.TextUnmarshaler].
func (l *Limit) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New("the value is empty")
	}
	*l = Limit(text)
	return nil
}

// UnmarshalJSON implements [json.Unmarshaler]. Unlike on the command line, an empty value
// means that the flag was not given.
func (l *Limit) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, (*string)(l)) }

// Switch is the value of a flag that stands alone or has a value joined to it. It is "true"
// if the flag stands alone and "" if it is not given.
type Switch string

// IsBool reports that the flag does not take the next word as its value.
func (*Switch) IsBool() bool { return true }

// None reports whether no flag is given.
func (f *Flags) None() bool { return reflect.ValueOf(*f).IsZero() }

// Spec makes the spec of argv in a working directory, to which the paths of the flags are
// relative. files is used to find the work space.
func (f *Flags) Spec(files plan.Files, dir string, environ, argv []string) (plan.Spec, error) {
	profile := f.Profile
	if profile == "" && f.Agent != "" {
		profile = capability.WholeAgentProfile
	}
	asked, err := capability.FromFlags(profile, dir, f.given)
	if f.Untimed {
		asked.Base.TimeoutSeconds = 0
	}
	agent, known := f.agent(profile, argv)
	if known {
		asked.ForAgent(agent)
	}
	if err == nil && !known && f.Agent != "" {
		err = fmt.Errorf("--agent %s: the agents are %s, and the profile is %s", f.Agent, strings.Join(capability.AgentNames(), ", "), capability.WholeAgentProfile)
	}
	return plan.Spec{
		Agent: agent.Name,
		Asked: asked, Argv: argv, Dir: dir, Workspace: f.WorkspaceOf(files, dir), Placed: f.Workspace != "", Environ: environ, Require: f.Require, ProxyEnv: f.ProxyEnv, Debug: f.Debug,
		Publish: f.Publish, PublishAny: f.PublishAny,
	}, err
}

// agent returns the agent that is to be confined as a whole.
func (f *Flags) agent(profile string, argv []string) (capability.Agent, bool) {
	switch {
	case profile != capability.WholeAgentProfile:
		return capability.Agent{}, false
	case f.Agent != "":
		return capability.AgentNamed(f.Agent)
	}
	return capability.AgentOf(argv)
}

// WorkspaceOf returns the work space of a command in a directory.
func (f *Flags) WorkspaceOf(files plan.Files, dir string) string {
	switch {
	case f.Workspace == "":
		return Workspace(files, dir)
	case filepath.IsAbs(f.Workspace):
		return filepath.Clean(f.Workspace)
	}
	return filepath.Join(dir, f.Workspace)
}

// Workspace returns the git work tree that contains a directory, else the directory itself.
func Workspace(files plan.Files, dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := files.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
