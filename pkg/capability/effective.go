package capability

import (
	"cmp"
	"fmt"

	"ethos/pkg/record"
)

// Request is what determines the set of one action.
type Request struct {
	Tool string // ID of the tool that the action is; "" if it is none
	// Parts are the tools of a script of several, if it runs nothing else.
	Parts     []string
	Declared  *Set   // by the tool for itself; nil if it is only recognised
	ToolNamed bool   // by --tool
	Agent     bool   // an agent asks
	Mode      string // trust mode
	Profile   string // --profile, "" if not given
	Grants    []string
	Space     Space
	Parent    *Set     // effective for the agent that started this one; nil if there is none
	Ceiling   *Written // of the machine; nil for none
}

// Effective returns what the action may use. It starts with the named profile, or what a managed
// tool declares, or the agent's or the default profile. The repository's configuration widens it.
// Plan mode narrows it to reading, and verify mode to a view that is discarded. Grants widen it.
// Each widening is named in GrantedBy. A sub-agent may use nothing that its parent may not,
// regardless of what widens it.
func Effective(config Repository, r Request) (Set, error) {
	s, err := r.start()
	if err != nil {
		return s, err
	}
	config.widen(&s, r)
	s = inMode(r.Mode, r.Space, s)
	for _, g := range r.Grants {
		if err := Grant(&s, g); err != nil {
			return s, err
		}
	}
	if r.Parent != nil {
		s = Narrow(r.Space, reaching(*r.Parent), s)
	}
	if r.Ceiling != nil {
		s, _ = r.Ceiling.Below(r.Space, s)
	}
	return Derive(s), nil
}

func (r Request) start() (s Set, err error) {
	switch {
	case r.Profile != "":
		if s, err = known(r.Profile); err == nil {
			s.GrantedBy = append(s.GrantedBy, "--profile "+r.Profile)
		}
	case r.Declared != nil:
		s = Clone(*r.Declared)
	case r.Agent:
		s, err = known(AgentProfile)
	default:
		s, err = known(DefaultProfile)
	}
	if r.ToolNamed {
		s.GrantedBy = append(s.GrantedBy, "--tool "+r.Tool)
	}
	return s, err
}

func known(profile string) (Set, error) {
	s, ok := Profile(profile)
	if !ok {
		return s, fmt.Errorf("no profile %q", profile)
	}
	return Unasked(s), nil
}

// looking applies the upper bound of plan mode: what s can read stays readable, and nothing can be
// changed, whatever a command tries.
func looking(s Set) Set {
	s = Clone(s)
	s.SandboxProfile = DefaultToolProfile
	s.ReadPaths = append(s.ReadPaths, s.WritePaths...)
	s.WritePaths, s.UnixSockets, s.NestedUserns = nil, nil, ""
	s.Network = record.Network{Mode: "none"}
	s.Git = "read"
	return s
}

// reaching turns a parent without a network mode into one that reaches nothing, because [Narrow]
// treats an empty word as no statement.
func reaching(parent Set) Set {
	parent.Network.Mode = cmp.Or(parent.Network.Mode, "none")
	parent.Git = cmp.Or(parent.Git, "none")
	return parent
}

// Meet returns what both of two effective sets allow.
func Meet(space Space, a, b Set) Set { return Derive(Narrow(space, a, b)) }
