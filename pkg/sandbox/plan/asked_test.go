package plan

import (
	"strings"

	"ethos/pkg/capability"
)

// asked is a profile with flags on top; --cache and --allow ask for what no flag
// does.
func asked(profile string, flags ...string) capability.Asked {
	a := capability.OnProfile(profile)
	for i := 0; i < len(flags); i += 2 {
		switch name, value := flags[i], flags[i+1]; name {
		case "--cache":
			a.CachePaths = append(a.CachePaths, value)
		case "--allow":
			a.AllowReadWithinDeny = append(a.AllowReadWithinDeny, value)
		default:
			if err := a.Flag(strings.TrimPrefix(name, "--"), value); err != nil {
				panic(err)
			}
		}
	}
	return a
}
