package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// Policy is the requested boundary of a [Sandbox], as data. Empty lists declare nothing.
// [ParsePolicy] reads its JSON form.
type Policy struct {
	// Workspace is the default directory of commands. A command that sets its own directory
	// must set one within Workspace. The work space of a command is the git work tree
	// around its directory, else that directory.
	Workspace   string   `json:"workspace"`
	Profile     string   `json:"profile,omitempty"` // "" is "workspace"
	Backend     string   `json:"backend,omitempty"` // "" is "native"
	ReadPaths   []string `json:"read_paths,omitempty"`
	WritePaths  []string `json:"write_paths,omitempty"`
	DenyRead    []string `json:"deny_read,omitempty"`
	DenyWrite   []string `json:"deny_write,omitempty"`
	ExecPaths   []string `json:"exec_paths,omitempty"` // files
	Network     Network  `json:"network,omitempty"`    // "" is NetworkDeny
	Domains     []string `json:"domains,omitempty"`    // for NetworkProxy
	UnixSockets []string `json:"unix_sockets,omitempty"`
	Env         []string `json:"env,omitempty"`   // NAME or NAME=VALUE
	Limits      Limits   `json:"limits,omitzero"` // time, memory, processors and processes
	Session     string   `json:"session,omitempty"`
}

// The variables that add paths to [DefaultPolicy]: colon-separated absolute paths that
// become readable, or readable and writable. They are set by whoever starts the program.
const (
	EnvReadOnly  = "ETHOS_SANDBOX_RO"
	EnvReadWrite = "ETHOS_SANDBOX_RW"
)

// DefaultPolicy returns the boundary of a work space. The work space is writable, except
// what git and agents read as configuration; the rest of the home directory is not visible;
// there is no network. [EnvReadOnly] and [EnvReadWrite] add paths.
func DefaultPolicy(workspace string) Policy {
	return Policy{
		Workspace: workspace, Network: NetworkDeny,
		ReadPaths: filepath.SplitList(os.Getenv(EnvReadOnly)), WritePaths: filepath.SplitList(os.Getenv(EnvReadWrite)),
	}
}

// ParsePolicy parses the JSON of one policy. An unknown member, or anything after the
// object, is an error.
func ParsePolicy(text []byte) (Policy, error) {
	var p Policy
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(&p); err != nil {
		return Policy{}, fmt.Errorf("policy: %w", err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return Policy{}, errors.New("policy: something follows the object")
	}
	return p, p.check()
}

func (p Policy) clone() Policy {
	for _, list := range []*[]string{&p.ReadPaths, &p.WritePaths, &p.DenyRead, &p.DenyWrite, &p.ExecPaths, &p.Domains, &p.UnixSockets, &p.Env} {
		*list = slices.Clone(*list)
	}
	return p
}

// check reports requests for which no boundary can be made, before there is a command.
func (p *Policy) check() error {
	switch {
	case !filepath.IsAbs(p.Workspace):
		return declaration("name the directory by its absolute path", "the work space %q is not absolute", p.Workspace)
	case p.Backend != "" && !slices.Contains(Backends(), p.Backend):
		return declaration("use native, bwrap, landlock, seatbelt or none", "the backend %q is unknown", p.Backend)
	case p.Session != "" && p.Backend != "":
		return declaration("remove one of the two", "a session has the backend native")
	case !slices.Contains([]Network{"", NetworkDeny, NetworkLoopback, NetworkProxy, NetworkOpen}, p.Network):
		return declaration("use none, loopback, proxy or host", "the network %q is unknown", p.Network)
	case len(p.Domains) > 0 && p.Network != NetworkProxy:
		return declaration("WithNetwork(NetworkProxy) goes with WithDomains", "domains are given, and the network is %q", p.network())
	case p.Limits.OpenFiles != 0 || p.Limits.FileBytes != 0 || p.Limits.OutputBytes != 0:
		return declaration("time, memory, processors and processes can be bounded", "limits of files and output do not apply to a command")
	case min(p.Limits.Timeout, time.Duration(p.Limits.MemoryBytes), time.Duration(p.Limits.CPUPercent), time.Duration(p.Limits.Pids)) < 0:
		return declaration("0 is the profile's limit", "a limit is negative")
	}
	for _, path := range p.ExecPaths {
		if info, err := os.Stat(path); !filepath.IsAbs(path) || err == nil && !info.Mode().IsRegular() {
			return declaration("name one program by its absolute path; WithReadPaths shows a directory", "%q is not a file to execute", path)
		}
	}
	for _, name := range []string{EnvReadOnly, EnvReadWrite} {
		for _, path := range filepath.SplitList(os.Getenv(name)) {
			if !filepath.IsAbs(path) {
				return declaration("use absolute paths, separated by colons", "%s names %q, which is not absolute", name, path)
			}
		}
	}
	for _, list := range [][]string{p.ReadPaths, p.WritePaths, p.DenyRead, p.DenyWrite, p.Domains, p.UnixSockets, p.Env} {
		if slices.Contains(list, "") {
			return declaration("remove the empty entry", "an entry is empty")
		}
	}
	return nil
}

func declaration(hint, format string, args ...any) error {
	return &Refusal{Code: CodeDeclaration, Err: fmt.Errorf(format, args...), Hint: hint}
}

func (p *Policy) network() Network {
	if p.Network == "" {
		return NetworkDeny
	}
	return p.Network
}

// args returns the flags of `ethos-sandbox run` that request the policy.
func (p *Policy) args() (args []string) {
	add := func(flag string, values ...string) {
		for _, value := range values {
			if value != "" {
				args = append(args, "--"+flag+"="+value)
			}
		}
	}
	add("session", p.Session)
	add("profile", p.Profile)
	add("backend", p.Backend)
	add("ro", p.ReadPaths...)
	add("ro", p.ExecPaths...)
	add("rw", p.WritePaths...)
	add("deny-read", p.DenyRead...)
	add("deny-write", p.DenyWrite...)
	add("net", string(p.network()))
	add("allow-domain", p.Domains...)
	add("unix-socket", p.UnixSockets...)
	add("env", p.Env...)
	if p.Limits.Timeout != 0 {
		add("timeout", p.Limits.Timeout.String())
	}
	add("memory", number(p.Limits.MemoryBytes))
	add("cpu", number(p.Limits.CPUPercent))
	add("pids", number(p.Limits.Pids))
	return args
}

func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
