package shell

import (
	"slices"
	"strings"
)

// gitEnvironment returns the variables for git that the script has exported, by name, without those
// that the command itself is given.
func (c *walker) gitEnvironment(given []assignment) (out []assignment) {
	seen := map[string]bool{}
	for _, a := range given {
		seen[a.name] = true
	}
	for at := c.scope; at != nil; at = at.parent {
		for name, v := range at.vars {
			if !(strings.HasPrefix(name, "GIT_") || name == "HOME" || name == "XDG_CONFIG_HOME") || seen[name] {
				continue
			}
			seen[name] = true
			if v.exported || name == "HOME" { // HOME is exported when the script begins
				out = append(out, assignment{name: name, value: v.only()})
			}
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
