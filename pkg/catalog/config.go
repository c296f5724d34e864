package catalog

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"ethos/pkg/capability"
)

// ConfigName is the file in the root of a work space that this package reads.
const ConfigName = "repo_config.yaml"

// Config is what a repository says of itself in repo_config.yaml. The zero value is that of a repository without one.
type Config struct {
	ReadPaths         []string
	ReadWritePaths    []string
	NetworkTools      []NetworkTool
	Enforce           string // "" | cgroup | available
	Tools             []Tool
	ProtectedBranches []string
}

// NetworkTool is a tool that the repository lets into the network.
type NetworkTool struct {
	Tool         string   // id
	Mode         string   // loopback | proxy | host
	AllowDomains []string // for proxy
	Within       bool     // it takes away only; see [Config.Bounded]
}

// configText is the file as it is written.
type configText struct {
	Version int64          `yaml:"version"`
	Sandbox sandboxText    `yaml:"sandbox"`
	Tools   []*declaration `yaml:"tools"`
	Git     gitText        `yaml:"git"`
}

type sandboxText struct {
	ReadPaths      []pathText        `yaml:"read_paths"`
	ReadWritePaths []pathText        `yaml:"read_write_paths"`
	NetworkTools   []networkToolText `yaml:"network_tools"`
	Enforce        wordText          `yaml:"enforce"`
}

type gitText struct {
	ProtectedBranches []string `yaml:"protected_branches"`
}

// place is where a value stands.
type place struct{ line, column int }

func (p *place) at(line, column int) { p.line, p.column = line, column }

type wordText struct {
	place
	text string
}

func (w *wordText) readScalar(text string) { w.text = text }

type pathText struct{ wordText }

type networkToolText struct {
	Tool         string   `yaml:"tool"`
	Mode         string   `yaml:"mode"`
	AllowDomains []string `yaml:"allow_domains"`
	place
}

func (n *networkToolText) readScalar(text string) { n.Tool = text }

// ParseConfig reads a repo_config.yaml; file names it in messages. The error is a [*Fault].
func ParseConfig(file string, text []byte) (Config, error) {
	var in configText
	if err := decodeYAML(file, text, &in); err != nil {
		return Config{}, err
	}
	r := configReader{file: file}
	r.read(in)
	if r.fault != nil {
		return Config{}, r.fault
	}
	return r.out, nil
}

// configReader checks the parts; the first fault stays.
type configReader struct {
	file  string
	out   Config
	fault *Fault
}

func (r *configReader) read(in configText) {
	if in.Version > 1 {
		r.fail(place{1, 1}, "this ethos reads version 1", "version %d is not supported", in.Version)
	}
	r.out.ReadPaths = r.paths(in.Sandbox.ReadPaths, false)
	r.out.ReadWritePaths = r.paths(in.Sandbox.ReadWritePaths, true)
	r.enforce(in.Sandbox.Enforce)
	for _, d := range in.Tools {
		r.tool(d)
	}
	for _, n := range in.Sandbox.NetworkTools {
		r.networkTool(n)
	}
	r.out.ProtectedBranches = in.Git.ProtectedBranches
}

func (r *configReader) fail(at place, hint, format string, args ...any) {
	if r.fault == nil {
		r.fault = &Fault{File: r.file, Line: at.line, Column: at.column, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
}

func (r *configReader) paths(in []pathText, write bool) (out []string) {
	for _, p := range in {
		text := p.text
		if text == "" {
			r.fail(p.place, "", "a path must be a string that is not empty")
			continue
		}
		switch clean := path.Clean(strings.TrimSuffix(text, "?")); {
		case clean == "/" || clean == "~" || clean == "/home" || clean == "/root" || clean == "/etc" || clean == "/proc":
			r.fail(p.place, "name a directory further down", "path %q is too wide", text)
		case holdsKeys(clean):
			r.fail(p.place, "a person can open it for one command: ethos-facts --grant read="+text, "path %q holds credentials", text)
		case strings.ContainsAny(text, "$*[") || strings.ContainsRune(text, 0):
			r.fail(p.place, "name the directory", "path %q: variables and wildcards are not supported here", text)
		case write && exposesGit(clean):
			r.fail(p.place, "git's own files are never writable by declaration; ethos-git and the sandbox take care of them", "path %q would make .git writable", text)
		case write && (clean == ".." || strings.HasPrefix(clean, "../")):
			r.fail(p.place, "name a directory of the work space, or one of its own", "path %q is too wide to be writable", text)
		}
		out = append(out, text)
	}
	return out
}

// keyHolders are names under which credentials lie. A repository that one has only just cloned must not be able to open them.
var keyHolders = []string{".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials", ".password-store", ".vault-token",
	".terraform.d", ".claude", ".codex", ".gemini", ".copilot", ".mozilla", "keyrings", "gcloud", "gh", "credentials", "credentials.toml", "shadow"}

// holdsKeys reports a path outside of the work space through one of them.
func holdsKeys(clean string) bool {
	if !strings.HasPrefix(clean, "/") && !strings.HasPrefix(clean, "~") && !strings.HasPrefix(clean, "..") {
		return false
	}
	return slices.ContainsFunc(strings.Split(clean, "/"), func(element string) bool { return slices.Contains(keyHolders, strings.ToLower(element)) })
}

// exposesGit reports a path in git's own files.
func exposesGit(clean string) bool {
	for _, element := range strings.Split(clean, "/") {
		if strings.EqualFold(element, ".git") {
			return true
		}
	}
	return false
}

func (r *configReader) enforce(w wordText) {
	if w.text != "" && w.text != "cgroup" && w.text != "available" {
		r.fail(w.place, "write cgroup or available", "enforce: %q is not known", w.text)
	}
	r.out.Enforce = w.text
}

// tool adds a tool. One with the id of a shipped tool may narrow it only.
func (r *configReader) tool(d *declaration) {
	at := place{d.line, d.column}
	t, err := d.tool(shippedBase)
	if err != nil {
		r.fail(at, "", "%v", err)
		return
	}
	if have, ok := New(Config{}).Tool(t.ID); ok {
		if over := capability.Widens(space, have.Capabilities, t.Capabilities); len(over) > 0 {
			r.fail(at, "give it another id, or widen it under sandbox:", "tool %s may only narrow the one that ships: %s", t.ID, over[0])
		}
	}
	if reachesOut(t) {
		r.fail(at, "declare it with a profile without network, and list it under sandbox.network_tools", "tool %s cannot give itself network access", t.ID)
	}
	r.out.Tools = append(r.out.Tools, t)
}

func (r *configReader) networkTool(n networkToolText) {
	c := New(r.out)
	t, ok := c.Tool(n.Tool)
	if !ok {
		r.fail(n.place, c.KnownTool(n.Tool), "network_tools: no tool %q", n.Tool)
		return
	}
	out := NetworkTool{Tool: n.Tool, Mode: n.Mode, AllowDomains: n.AllowDomains}
	if out.Mode == "" {
		out.Mode = "proxy"
	}
	switch out.Mode {
	case "loopback", "host":
	case "proxy":
		if out.AllowDomains == nil {
			out.AllowDomains = t.Capabilities.Network.AllowDomains
		}
		if len(out.AllowDomains) == 0 {
			r.fail(n.place, fmt.Sprintf("write {tool: %s, allow_domains: [example.com]}", n.Tool), "network_tools: %s has no domains that it may reach", n.Tool)
		}
	default:
		r.fail(n.place, "write loopback, proxy or host", "network_tools: mode %q is not known", out.Mode)
	}
	r.out.NetworkTools = append(r.out.NetworkTools, out)
}
