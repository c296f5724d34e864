package shell

import (
	"slices"
	"strings"
)

func (c *walker) gitEnvironment(given []assignment) []assignment {
	return c.scriptEnvironment(given, func(name string, v variable) bool {
		return (strings.HasPrefix(name, "GIT_") || name == "XDG_CONFIG_HOME") && v.exported || name == "HOME" // HOME is exported when the script begins
	})
}

// scriptEnvironment returns those of the script's variables that are wanted, by name, without those
// that the command itself is given.
func (c *walker) scriptEnvironment(given []assignment, wanted func(name string, v variable) bool) (out []assignment) {
	seen := map[string]bool{}
	for _, a := range given {
		seen[a.name] = true
	}
	for at := c.scope; at != nil; at = at.parent {
		for name, v := range at.vars {
			if !seen[name] && wanted(name, v) {
				out = append(out, assignment{name: name, value: v.only()})
			}
			seen[name] = true
		}
	}
	slices.SortFunc(out, func(a, b assignment) int { return strings.Compare(a.name, b.name) })
	return out
}

// only returns the value of a variable that can have just one, else an unknown one.
func (v variable) only() field {
	if len(v.alts) == 1 && !v.alts[0].dyn && !v.alts[0].unset && !v.alts[0].array && v.alts[0].word == nil {
		return field{text: v.alts[0].text}
	}
	return field{dyn: true}
}
