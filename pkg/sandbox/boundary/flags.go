// Package boundary defines the flags that describe the boundary of one command, and turns
// them into the spec of a plan. Begin with [Flags.Spec].
package boundary

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/sandbox/plan"
)

// Flags describe the boundary of one command. The struct tags are those of the command-line
// model.
type Flags struct {
	Profile           string   `placeholder:"NAME" help:"Profile to start from: lint-offline, workspace, debug, agent-shell, agent-network, agent, test-loopback or build."`
	Agent             string   `placeholder:"NAME" help:"The agent that the command starts, if the name of its program does not show it. Implies --profile agent."`
	Workspace         string   `placeholder:"DIR" help:"The work space, as a path without symbolic links. Default: the git work tree around the working directory, else that directory."`
	Ro                []string `placeholder:"PATH" sep:"none" help:"Let the command read a path. For the work space itself, which most profiles can write, this makes it read-only."`
	Rw                []string `placeholder:"PATH" sep:"none" help:"Let the command read and write a path."`
	DenyRead          []string `placeholder:"PATH" sep:"none" help:"Deny reading and writing a path. A pattern such as **/*.pem stands for the files and directories that match when the run begins, not for later ones."`
	DenyWrite         []string `placeholder:"PATH" sep:"none" help:"Deny writing a path. A pattern with * works as with --deny-read."`
	DenyExec          []string `placeholder:"PATH" sep:"none" help:"Deny executing or mapping as code any file at or below a path. Interpreters can still read scripts there, and a copy elsewhere runs."`
	RoNoexec          []string `placeholder:"PATH" sep:"none" help:"Like --ro and --deny-exec of the path."`
	RwNoexec          []string `placeholder:"PATH" sep:"none" help:"Like --rw and --deny-exec of the path."`
	Mask              []string `placeholder:"FILE=FAKE" sep:"none" help:"Show the content of FAKE in place of FILE, read-only; FILE= shows an empty file. FAKE must be a file that the command can read."`
	EnvFiles          string   `placeholder:"MODE" enum:",hidden,read" default:"" help:"Environment files of the work space that git does not track, such as .env: hidden, or read."`
	GitSigning        string   `placeholder:"WHOSE" enum:",none,own,committer" default:"" help:"Which commits and tags are signed outside with your key: none, your own, or also those of others that you commit (committer)."`
	View              string   `placeholder:"KIND" enum:",copy-on-write" default:"" help:"Write to a view of the writable directories instead of to the directories: copy-on-write."`
	Net               string   `placeholder:"MODE" enum:",none,loopback,proxy,host" default:"" help:"Network access: none, loopback, proxy or host."`
	AllowDomain       []string `placeholder:"PATTERN" help:"Allow connections to a name, *.name, address or network, with an optional :PORT. Implies --net proxy."`
	DenyDomain        []string `placeholder:"PATTERN" help:"With --net proxy: deny connections that match this pattern."`
	AllowConnect      []string `placeholder:"PORT" help:"With --net loopback or host: allow TCP connections to these ports only, or none. TCP is then the only protocol: no UDP."`
	AllowBind         []string `placeholder:"PORT" help:"Allow TCP to bind these ports only, 0 for one that the kernel chooses, or none. TCP is then the only protocol: no UDP."`
	Sni               string   `placeholder:"MODE" enum:",require,allow" default:"" help:"With --net proxy: TLS must name the checked host (require), or may name another or none (allow). Browsers need allow."`
	CaBundle          string   `placeholder:"FILE" help:"With --net proxy: certificate and key (PEM) of your own CA, which open the TLS of the hosts in --allow-request and --inject."`
	AllowRequest      []string `placeholder:"'HOST METHODS PATHS'" sep:"none" help:"Allow only these requests to a host: 'api.example.com GET,HEAD /v1/*'."`
	Inject            []string `placeholder:"'HOST HEADER=NAME'" sep:"none" help:"Give the command a sentinel instead of the value of the variable NAME; the host gets the value, in that header field."`
	ProxyEnv          bool     `help:"With --net proxy: set HTTP_PROXY and the like inside, for programs that insist on a proxy; others need none."`
	Publish           []string `placeholder:"[ADDRESS:]HOSTPORT:PORT" sep:"none" help:"Forward a port of the host's loopback to a port inside."`
	PublishAny        bool     `help:"With --publish: allow addresses that other machines can reach."`
	UnixSocket        []string `placeholder:"PATH" sep:"none" help:"Let the command connect to a socket file of the host."`
	NoUnixSockets     bool     `help:"Deny creating Unix sockets, except pairs that are connected to each other."`
	AllowNestedUserns Switch   `type:"choice" help:"Let the command create user namespaces, as a browser's sandbox does; =mounts: and mount in them, as rootless containers do."`
	Env               []string `placeholder:"NAME[=VALUE]" sep:"none" help:"Pass on a variable, or set one."`
	Timeout           Limit    `placeholder:"DURATION" help:"Wall-clock limit, such as 90s or 10m; 0: no limit."`
	Memory            Limit    `placeholder:"SIZE" help:"Memory limit, such as 512M or 2G."`
	CPU               Limit    `placeholder:"PERCENT" name:"cpu" help:"CPU limit; 100 is one processor."`
	Pids              Count    `placeholder:"N" help:"Limit on processes and threads."`
	Debug             bool     `help:"Let the command trace its own processes: gdb, strace, delve, LeakSanitizer."`
	Untimed           bool     `kong:"-"` // no time limit unless Timeout is given
	Require           []string `placeholder:"CONTROL" help:"Run only if these controls are in full force: userns, landlock, seccomp, cgroup, …"`
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

// Count is a limit on a number. Zero means that the flag was not given, so nobody can give it.
type Count int64

// UnmarshalText implements [encoding.TextUnmarshaler].
func (c *Count) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < 1 {
		return fmt.Errorf("%s is not a whole number above 0", text)
	}
	*c = Count(n)
	return nil
}

// UnmarshalJSON implements [json.Unmarshaler], as for [Limit].
func (c *Count) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, (*int64)(c)) }

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
	asked, err := capability.FromFlags(profile, dir, f.given())
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
	spec := plan.Spec{
		Agent: agent.Name,
		Asked: asked, Argv: argv, Dir: dir, Workspace: f.WorkspaceOf(files, dir), Placed: f.Workspace != "", Environ: environ, Require: f.Require, ProxyEnv: f.ProxyEnv, Debug: f.Debug,
		Publish: f.Publish, PublishAny: f.PublishAny,
	}
	spec.Settle(files)
	return spec, err
}

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

// Workspace returns the git work tree that contains a directory, else the directory itself,
// also where it is not known which directories are work trees.
func Workspace(files plan.Files, dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		_, err := files.Lstat(filepath.Join(at, ".git"))
		switch {
		case err == nil:
			return at
		case plan.Doubtful(err) || at == filepath.Dir(at):
			return dir
		}
	}
}
