package catalog

import (
	"cmp"
	"fmt"
	"slices"

	"ethos/pkg/capability"
	"ethos/pkg/catalog/shipped"
	"ethos/pkg/record"
)

// Request is what decides over the capabilities of one action.
type Request struct {
	Tool      *Tool    // that the action is; nil when it is none
	ToolNamed bool     // by --tool
	Agent     bool     // an agent asks
	Mode      string   // trust mode
	Profile   string   // --profile, "" when not given
	Grants    []string // --grant
	Space     capability.Space
	Parent    *record.Capabilities // in force for the agent that started this one; nil when nobody did
}

// InForce is what the action may use: the named profile, else what a managed tool declares, else the agent's or the default profile; widened by the
// repository's configuration; narrowed, in plan mode, to looking; and widened by grants. Each widening stands in GrantedBy. A sub-agent may
// use nothing that its parent may not, whatever widened.
func InForce(config Config, r Request) (record.Capabilities, error) {
	c, err := r.start()
	if err != nil {
		return c, err
	}
	config.widen(&c, r)
	if r.Mode == record.ModePlan {
		c = derive(capability.Narrow(r.Space, looking(c), c))
	}
	for _, g := range r.Grants {
		if err := Grant(&c, g); err != nil {
			return c, err
		}
	}
	if r.Parent != nil {
		c = capability.Narrow(r.Space, reaching(*r.Parent), c)
	}
	return derive(c), nil
}

func (r Request) start() (c record.Capabilities, err error) {
	switch {
	case r.Profile != "":
		if c, err = profile(r.Profile); err == nil {
			c.GrantedBy = append(c.GrantedBy, "--profile "+r.Profile)
		}
	case r.Tool != nil && (r.Tool.Managed || r.ToolNamed):
		c = shipped.Clone(r.Tool.Capabilities)
	case r.Agent:
		c, err = profile(AgentProfile)
	default:
		c, err = profile(DefaultProfile)
	}
	if r.ToolNamed {
		c.GrantedBy = append(c.GrantedBy, "--tool "+r.Tool.ID)
	}
	return c, err
}

// looking is the ceiling of plan mode: what c can read it still can, and nothing is changed, whatever a command tries.
func looking(c record.Capabilities) record.Capabilities {
	c = shipped.Clone(c)
	c.SandboxProfile = DefaultToolProfile
	c.ReadPaths = append(c.ReadPaths, c.WritePaths...)
	c.WritePaths, c.UnixSockets = nil, nil
	c.Network = record.Network{Mode: "none"}
	c.Git = "read"
	return c
}

// reaching makes a parent that does not say what it reaches one that reaches nothing: to [capability.Narrow] an empty word says nothing.
func reaching(parent record.Capabilities) record.Capabilities {
	parent.Network.Mode = cmp.Or(parent.Network.Mode, "none")
	parent.Git = cmp.Or(parent.Git, "none")
	return parent
}

func profile(name string) (record.Capabilities, error) {
	c, ok := shipped.Profile(name)
	if !ok {
		return c, fmt.Errorf("no profile %q", name)
	}
	return c, nil
}

// widen adds what the repository's configuration gives.
func (config Config) widen(c *record.Capabilities, r Request) {
	note := func(key string) { _ = addTo(&c.GrantedBy, ConfigName+":"+key) }
	for _, p := range config.ReadPaths {
		if capability.PathAccess(r.Space, *c, p).Read != capability.Granted {
			_ = addTo(&c.ReadPaths, p)
			note("sandbox.read_paths")
		}
	}
	for _, p := range config.ReadWritePaths {
		if capability.PathAccess(r.Space, *c, p).Write != capability.Granted {
			_ = addTo(&c.WritePaths, p)
			note("sandbox.read_write_paths")
		}
	}
	if r.Tool != nil {
		config.connect(c, r.Tool.ID, note)
	}
	if config.Enforce == "cgroup" {
		c.Enforce = "cgroup"
	}
}

// Meet is what both of two results of [InForce] allow.
func Meet(s capability.Space, a, b record.Capabilities) record.Capabilities {
	return derive(capability.Narrow(s, a, b))
}

// Connects reports whether a tool is listed as one that gets more of the network
// than it has.
func (config Config) Connects(id string) bool {
	return slices.ContainsFunc(config.NetworkTools, func(n NetworkTool) bool { return n.Tool == id && !n.Within })
}

// connect gives a listed tool its network, and takes from it what an entry that takes away only leaves out.
func (config Config) connect(c *record.Capabilities, id string, note func(string)) {
	given := false
	for _, n := range config.NetworkTools {
		if n.Tool == id && !n.Within && !given {
			c.Network.Mode = n.Mode
			c.Network.AllowDomains = append([]string{}, n.AllowDomains...)
			note("sandbox.network_tools")
			given = true
		}
	}
	for _, n := range config.NetworkTools {
		if n.Tool == id && n.Within {
			less := shipped.Clone(*c)
			less.Network.Mode, less.Network.AllowDomains = n.Mode, n.AllowDomains
			c.Network = capability.Narrow(space, *c, less).Network
		}
	}
}
