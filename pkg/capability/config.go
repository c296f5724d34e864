package capability

import (
	"cmp"
	"slices"

	"ethos/pkg/record"
)

// ConfigName is the file in the root of a work space by which a repository widens sets.
const ConfigName = "repo_config.yaml"

// Repository is the part of a repository's configuration that concerns sets.
type Repository struct {
	Adds         Set // paths, and required controls; the other fields are empty
	NetworkTools []NetworkTool
}

// NetworkTool is a tool to which the repository grants network access.
type NetworkTool struct {
	Tool         string   // id
	Mode         string   // loopback | proxy | host
	AllowDomains []string // for proxy
	// The fields of a proxy, as in a set.
	SNI           string
	CABundle      string
	AllowRequests []string
	Inject        []string
	Within        bool // it only narrows
}

// Put sets a network to what the entry says, and keeps what is denied.
func (n *NetworkTool) Put(to *record.Network) {
	*to = record.Network{
		Mode: n.Mode, AllowDomains: slices.Clone(n.AllowDomains), DenyDomains: to.DenyDomains,
		ConnectPorts: to.ConnectPorts, BindPorts: to.BindPorts,
		SNI: n.SNI, CABundle: n.CABundle, AllowRequests: slices.Clone(n.AllowRequests), Inject: slices.Clone(n.Inject),
	}
	if to.AllowDomains == nil {
		to.AllowDomains = []string{}
	}
}

// Connects reports whether a tool is listed with access to more than its own loopback.
func (c Repository) Connects(tool string) bool {
	return slices.ContainsFunc(c.NetworkTools, func(n NetworkTool) bool { return n.Tool == tool && !n.Within && n.Mode != "loopback" })
}

// ConfigKey is a key of the section sandbox of a repository's configuration.
type ConfigKey struct {
	Name    string // "sandbox." and the key
	Key     string
	Narrows string // why no value of it can widen; "" if one can
	field   *field
}

// ConfigKeys lists the keys.
func ConfigKeys() (out []ConfigKey) {
	for i := range fields {
		if f := &fields[i]; f.config != "" {
			out = append(out, ConfigKey{"sandbox." + f.config, f.config, f.narrows, f})
		}
	}
	return out
}

// Paths returns the list for the paths of the key in a set, or nil if the set has none.
func (k ConfigKey) Paths(s *Set) *[]string {
	if k.field.kind != tree && !k.Sockets() {
		return nil
	}
	return of[[]string](k.field, s)
}

// Sockets reports whether the paths of the key are sockets of the host.
func (k ConfigKey) Sockets() bool { return k.field.kind == names }

// Writable reports whether the paths of the key can be written.
func (k ConfigKey) Writable() bool { return k.field.list == write }

// widen adds what the repository's configuration grants.
func (c Repository) widen(s *Set, r Request) {
	note := func(key string) { _ = addTo(&s.GrantedBy, ConfigName+":sandbox."+key) }
	each(tree, func(f *field) {
		for _, p := range *of[[]string](f, &c.Adds) {
			access := PathAccess(r.Space, *s, p)
			if f.list == read && access.Read == Granted || f.list == write && access.Write == Granted {
				continue
			}
			_ = addTo(of[[]string](f, s), p)
			note(f.config)
		}
	})
	each(names, func(f *field) {
		if f.config == "" {
			return
		}
		for _, p := range *of[[]string](f, &c.Adds) {
			_ = addTo(of[[]string](f, s), p)
			note(f.config)
		}
	})
	if r.Tool != "" {
		c.connect(s, r.Tool, note)
	} else {
		c.connectParts(s, r.Parts, note)
	}
	if c.Adds.EnvFiles == "read" {
		s.EnvFiles = "read"
		note(named("env_files").config)
	}
	if n := named("nested_userns"); n.looseness(&c.Adds) > n.looseness(s) {
		s.NestedUserns = c.Adds.NestedUserns
		note(n.config)
	}
	if f := named("git_signing"); f.looseness(&c.Adds) > f.looseness(s) {
		s.GitSigning = c.Adds.GitSigning
		note(f.config)
	}
	if c.Adds.Enforce == "cgroup" {
		s.Enforce = "cgroup"
	}
}

// connect gives a listed tool its network, and removes what an entry that only narrows leaves out.
func (c Repository) connect(s *Set, tool string, note func(string)) {
	given := false
	for _, n := range c.NetworkTools {
		if n.Tool == tool && !n.Within && !given {
			had := s.Network.Mode
			n.Put(&s.Network)
			if given = true; n.Mode != had || reachesOut(s) {
				note(named("network.mode").config)
			}
		}
	}
	c.bound(s, tool)
}

// connectParts gives a script the names with which any of its tools is listed, because its parts
// share one network. The host's network is only for a single tool, and a relaxation for one tool
// applies only if each of them has it.
func (c Repository) connectParts(s *Set, tools []string, note func(string)) {
	lax := []string{}
	for _, n := range c.NetworkTools {
		if n.Mode != "proxy" || n.Within || !slices.Contains(tools, n.Tool) {
			continue
		}
		if n.SNI == "allow" {
			lax = append(lax, n.Tool)
		}
		if n.CABundle != "" && s.Network.CABundle != "" && n.CABundle != s.Network.CABundle {
			continue // programs that share a network trust the same authority
		}
		s.Network.CABundle = cmp.Or(n.CABundle, s.Network.CABundle)
		s.Network.AllowRequests = union(s.Network.AllowRequests, n.AllowRequests)
		s.Network.Inject = union(s.Network.Inject, n.Inject)
		s.Network.Mode = n.Mode
		s.Network.AllowDomains = union(s.Network.AllowDomains, n.AllowDomains)
		note(named("network.mode").config)
	}
	if len(lax) > 0 && len(missing(tools, lax)) == 0 {
		s.Network.SNI = "allow"
	}
	for _, tool := range tools {
		c.bound(s, tool)
	}
}

// bound removes from a set what those entries of a tool that only narrow leave out.
func (c Repository) bound(s *Set, tool string) {
	for _, n := range c.NetworkTools {
		if n.Tool == tool && n.Within {
			less := Clone(*s)
			n.Put(&less.Network)
			s.Network = Narrow(Anywhere, *s, less).Network
		}
	}
}
