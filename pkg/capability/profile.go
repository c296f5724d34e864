package capability

import "strings"

// The profiles of actions that no tool declares for.
const (
	DefaultProfile     = "workspace"    // a person's or a script's command
	AgentProfile       = "agent-shell"  // an agent's
	DefaultToolProfile = "lint-offline" // a managed tool that names none
)

// NamedProfile is a set that others are made of, with what it is for.
type NamedProfile struct {
	Name, Summary string
	Set           Set
}

// profile is a [NamedProfile] as it is generated: a map would have to be filled
// at every start, so variables are a list.
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

// Unasked is what a profile gives where nobody asks for more: all but the
// caller's variables, which reach a command that a tool or a person names them
// for. In the profile they are what a tool may name.
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
