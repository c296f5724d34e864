package sandbox

import (
	"slices"
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/record"
)

// Profile is the base that a [Spec] builds on. The profiles are those of the catalog (pkg/catalog/data/profiles.yaml), the same that facts are made of.
type Profile struct {
	Name           string   `json:"name"`
	Summary        string   `json:"summary"`
	WriteWorkspace bool     `json:"write_workspace"`
	Git            string   `json:"git"`           // none, read: .git is read-only; wrapped, full: writable but for hooks and configuration
	Network        string   `json:"network"`       // none | loopback | proxy | host
	AllowDomains   []string `json:"allow_domains"` // with proxy
	Caches         []string `json:"caches"`        // package caches of the home directory, copy-on-write
	Env            []string `json:"env"`           // NAME: passed on beyond the fixed list; NAME=VALUE: set
	Limits         Limits   `json:"limits"`
}

// The names of the built-in profiles.
const (
	LintOffline  = "lint-offline"
	Workspace    = "workspace"
	AgentShell   = "agent-shell"
	AgentNetwork = "agent-network"
	TestLoopback = "test-loopback"
	BuildOffline = "build"
)

// Profiles returns the built-in profiles, narrowest first.
func Profiles() []Profile {
	var list []Profile
	for _, p := range capability.Profiles() {
		list = append(list, profileOf(p.Name, p.Summary, p.Set))
	}
	return list
}

func profileOf(name, summary string, c record.Capabilities) Profile {
	p := Profile{
		Name: name, Summary: summary, WriteWorkspace: slices.Contains(c.WritePaths, "."), Git: c.Git,
		Network: c.Network.Mode, AllowDomains: c.Network.AllowDomains, Caches: c.CachePaths, Env: c.Env.Pass, Limits: limitsOf(c),
	}
	for name, value := range c.Env.Set {
		p.Env = append(p.Env, name+"="+value)
	}
	slices.Sort(p.Env)
	return p
}

// limitsOf are the limits that capabilities declare.
func limitsOf(c record.Capabilities) Limits {
	return Limits{
		Timeout: time.Duration(c.TimeoutSeconds) * time.Second, MemoryBytes: c.MemoryMB << 20, CPUPercent: c.CPUQuotaPercent,
		Pids: c.Pids, OpenFiles: c.OpenFiles, OutputBytes: c.OutputBytes,
	}
}

// profileNamed finds a built-in profile; "" means [Workspace].
func profileNamed(name string) (Profile, error) {
	if name == "" {
		name = Workspace
	}
	if c, ok := capability.Profile(name); ok {
		return profileOf(name, "", c), nil
	}
	var names []string
	for _, p := range Profiles() {
		names = append(names, p.Name)
	}
	return Profile{}, refuse(CodeDeclaration, "the profiles are "+join(names), "unknown sandbox profile %q", name)
}
