package catalog

import (
	"fmt"
	"slices"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/catalog/shipped"
	"ethos/pkg/record"
)

// declaration is a tool as it is written in YAML.
type declaration struct {
	ID           string       `yaml:"id"`
	Category     string       `yaml:"category"`
	Format       string       `yaml:"format"`
	Managed      *bool        `yaml:"managed"`
	Match        []formText   `yaml:"match"`
	ConfigFiles  []string     `yaml:"config_files"`
	Capabilities capabilities `yaml:"capabilities"`

	line, column int
}

func (d *declaration) at(line, column int) { d.line, d.column = line, column }

// capabilities are the fields of a profile, or of a tool, as they are written in YAML. What is left out of a tool is as its profile has it.
type capabilities struct {
	SandboxProfile      string       `yaml:"sandbox_profile"`
	SeccompProfile      *string      `yaml:"seccomp_profile"`
	SeccompProfilePath  *string      `yaml:"seccomp_profile_path"`
	Tags                *[]string    `yaml:"tags"`
	ReadPaths           *[]string    `yaml:"read_paths"`
	WritePaths          *[]string    `yaml:"write_paths"`
	DenyReadPaths       *[]string    `yaml:"deny_read_paths"`
	AllowReadWithinDeny *[]string    `yaml:"allow_read_within_deny"`
	DenyWritePaths      *[]string    `yaml:"deny_write_paths"`
	CachePaths          *[]string    `yaml:"cache_paths"`
	UnixSockets         *[]string    `yaml:"unix_sockets"`
	RequiresNetwork     *bool        `yaml:"requires_network"`
	RequiresGit         *bool        `yaml:"requires_git"`
	RequiresEnv         *bool        `yaml:"requires_env"`
	RequiresProcesses   *bool        `yaml:"requires_processes"`
	Network             *networkText `yaml:"network"`
	Env                 *envText     `yaml:"env"`
	Git                 *string      `yaml:"git"`
	Enforce             *string      `yaml:"enforce"`
	TimeoutSeconds      *int64       `yaml:"timeout_seconds"`
	MemoryMB            *int64       `yaml:"memory_mb"`
	CPUQuotaPercent     *int64       `yaml:"cpu_quota_percent"`
	Pids                *int64       `yaml:"pids"`
	OpenFiles           *int64       `yaml:"open_files"`
	OutputBytes         *int64       `yaml:"output_bytes"`
}

type networkText struct {
	Mode         *string   `yaml:"mode"`
	AllowDomains *[]string `yaml:"allow_domains"`
	DenyDomains  *[]string `yaml:"deny_domains"`
}

type envText struct {
	Pass *[]string          `yaml:"pass"`
	Set  *map[string]string `yaml:"set"`
}

// space stands for any work space and home when declarations are compared: neither lies in the other.
var space = capability.Space{Workspace: "/\x00workspace", Home: "/\x00home"}

// base is what declarations refer to by name.
type base struct {
	profile func(name string) (record.Capabilities, bool)
	set     func(name string) ([]string, bool)
}

// shippedBase are the profiles and sets that are compiled in.
var shippedBase = base{shipped.Profile, shipped.Set}

// expand puts the values of a set in the place of "@name".
func (b base) expand(values []string) ([]string, error) {
	out := []string{}
	for _, v := range values {
		name, isSet := strings.CutPrefix(v, "@")
		if !isSet {
			out = append(out, v)
			continue
		}
		set, ok := b.set(name)
		if !ok {
			return nil, fmt.Errorf("no set %q", v)
		}
		out = append(out, set...)
	}
	return out, nil
}

// tool compiles a declaration against its profile: it may narrow it and nothing else.
func (d *declaration) tool(b base) (Tool, error) {
	t := Tool{ID: d.ID, Category: d.Category, Managed: d.Managed == nil || *d.Managed, ConfigFiles: d.ConfigFiles}
	if d.ID == "" || len(d.Match) == 0 {
		return t, fmt.Errorf("a tool needs an id and at least one form in match")
	}
	for _, text := range d.Match {
		form, err := text.parse(d.Format)
		if err != nil {
			return t, err
		}
		t.Forms = append(t.Forms, form)
	}
	name := d.Capabilities.SandboxProfile
	if name == "" {
		name = DefaultToolProfile
	}
	parent, ok := b.profile(name)
	if !ok {
		return t, fmt.Errorf("tool %s: no profile %q; %s", d.ID, name, known(name, ProfileNames()))
	}
	child, err := d.Capabilities.over(parent, b)
	if err != nil {
		return t, fmt.Errorf("tool %s: %w", d.ID, err)
	}
	child.SandboxProfile = name
	if over := capability.Widens(space, parent, child); len(over) > 0 {
		return t, fmt.Errorf("tool %s goes past its profile %s: %s", d.ID, name, over[0])
	}
	t.Capabilities = child
	return t, nil
}

// over puts what is written in place of what c has.
func (d *capabilities) over(c record.Capabilities, b base) (record.Capabilities, error) {
	for _, l := range d.lists(&c) {
		if l.from == nil {
			continue
		}
		values, err := b.expand(*l.from)
		if err != nil {
			return c, err
		}
		*l.to = values
	}
	put(&c.Env.Set, d.env().Set)
	put(&c.SeccompProfile, d.SeccompProfile)
	put(&c.SeccompProfilePath, d.SeccompProfilePath)
	put(&c.Network.Mode, d.network().Mode)
	put(&c.Git, d.Git)
	put(&c.Enforce, d.Enforce)
	put(&c.RequiresProcesses, d.RequiresProcesses)
	put(&c.TimeoutSeconds, d.TimeoutSeconds)
	put(&c.MemoryMB, d.MemoryMB)
	put(&c.CPUQuotaPercent, d.CPUQuotaPercent)
	put(&c.Pids, d.Pids)
	put(&c.OpenFiles, d.OpenFiles)
	put(&c.OutputBytes, d.OutputBytes)
	if c.Network.Mode != "proxy" {
		c.Network.AllowDomains = []string{}
	}
	c = derive(c)
	if err := d.contradiction(c); err != nil {
		return c, err
	}
	return c, check(c)
}

// put sets what is written.
func put[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// listPair is a list as it is written, and where it goes.
type listPair struct{ from, to *[]string }

func (d *capabilities) lists(c *record.Capabilities) []listPair {
	return []listPair{
		{d.ReadPaths, &c.ReadPaths},
		{d.WritePaths, &c.WritePaths},
		{d.DenyReadPaths, &c.DenyReadPaths},
		{d.DenyWritePaths, &c.DenyWritePaths},
		{d.AllowReadWithinDeny, &c.AllowReadWithinDeny},
		{d.CachePaths, &c.CachePaths},
		{d.UnixSockets, &c.UnixSockets},
		{d.network().AllowDomains, &c.Network.AllowDomains},
		{d.network().DenyDomains, &c.Network.DenyDomains},
		{d.env().Pass, &c.Env.Pass},
	}
}

func (d *capabilities) network() networkText {
	if d.Network == nil {
		return networkText{}
	}
	return *d.Network
}

func (d *capabilities) env() envText {
	if d.Env == nil {
		return envText{}
	}
	return *d.Env
}

// derive sets the fields that follow from the others, so that no name and no label can claim what the declaration does not say.
func derive(c record.Capabilities) record.Capabilities {
	c.RequiresNetwork = c.Network.Mode == "proxy" || c.Network.Mode == "host"
	c.RequiresGit = c.Git != "none"
	c.RequiresEnv = len(c.Env.Pass) > 0 || len(c.Env.Set) > 0
	c.Tags = capability.Tags(c)
	return c
}

// contradiction holds the derived fields against those written down.
func (d *capabilities) contradiction(c record.Capabilities) error {
	for _, b := range []struct {
		field   string
		written *bool
		is      bool
	}{{"requires_network", d.RequiresNetwork, c.RequiresNetwork}, {"requires_git", d.RequiresGit, c.RequiresGit}, {"requires_env", d.RequiresEnv, c.RequiresEnv}} {
		if b.written != nil && *b.written != b.is {
			return fmt.Errorf("%s: %t contradicts the rest of the declaration (network %s, git %s)", b.field, *b.written, c.Network.Mode, c.Git)
		}
	}
	if d.Tags == nil {
		return nil
	}
	for _, tag := range *d.Tags {
		if !slices.Contains(c.Tags, tag) {
			return fmt.Errorf("tag %q contradicts the declaration, which says: %s", tag, strings.Join(c.Tags, " "))
		}
	}
	return nil
}

// check refuses values that no layer understands.
func check(c record.Capabilities) error {
	for _, w := range []struct {
		field, value string
		allowed      []string
	}{
		{"network.mode", c.Network.Mode, []string{"none", "loopback", "proxy", "host"}},
		{"git", c.Git, []string{"none", "read", "wrapped", "full"}},
		{"enforce", c.Enforce, []string{"cgroup", "available"}},
		{"seccomp_profile", c.SeccompProfile, []string{"deny-privilege"}},
	} {
		if !slices.Contains(w.allowed, w.value) {
			return fmt.Errorf("%s: %q is not one of %s", w.field, w.value, strings.Join(w.allowed, ", "))
		}
	}
	for _, p := range slices.Concat(c.DenyReadPaths, c.AllowReadWithinDeny, c.DenyWritePaths) {
		if strings.Contains(p, "$") {
			return fmt.Errorf("%s: a deny, and what lifts one, must not depend on a variable", p)
		}
	}
	return nil
}
