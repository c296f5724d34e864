package capability

import "strings"

// The profiles of actions for which no tool declares capabilities.
const (
	DefaultProfile     = "workspace"    // a command of a person or a script
	AgentProfile       = "agent-shell"  // a command of an agent
	DefaultToolProfile = "lint-offline" // a managed tool that names no profile
)

// NamedProfile is a set from which others are made, with its purpose.
type NamedProfile struct {
	Name, Summary string
	Set           Set
}

// profile is a [NamedProfile] as generated. Variables are a list, because a map would have to be
// filled at every start.
type profile struct {
	summary   string
	set       Set
	variables []string // NAME=VALUE
}

// Profiles lists the profiles, narrowest first.
func Profiles() []NamedProfile {
	out := make([]NamedProfile, len(profiles))
	for i := range profiles {
		out[i] = NamedProfile{profiles[i].set.SandboxProfile, profiles[i].summary, profiles[i].copy()}
	}
	return out
}

// ProfileNames lists the names of the profiles, narrowest first.
func ProfileNames() []string {
	out := make([]string, len(profiles))
	for i := range profiles {
		out[i] = profiles[i].set.SandboxProfile
	}
	return out
}

// Profile returns a copy of the profile of that name.
func Profile(name string) (Set, bool) {
	for i := range profiles {
		if profiles[i].set.SandboxProfile == name {
			return profiles[i].copy(), true
		}
	}
	return Set{}, false
}

// Unasked returns what a profile gives without a further request: everything except the caller's
// variables, which a command gets only if a tool or a person names them. The profile lists those
// that a tool may name.
func Unasked(profile Set) Set {
	profile.Env.Pass = []string{}
	return profile
}

func (p *profile) copy() Set {
	s := Clone(p.set)
	for _, v := range p.variables {
		name, value, _ := strings.Cut(v, "=")
		s.Env.Set[name] = value
	}
	return s
}
