package shell

import (
	"slices"
	"strings"
)

// gitEnvironment is the variables for git that the script exported before, by name, without those that the command itself is given.
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
			if v.exported || name == "HOME" { // which is exported where the script begins
				out = append(out, assignment{name: name, value: v.only()})
			}
		}
	}
	slices.SortFunc(out, func(a, b assignment) int { return strings.Compare(a.name, b.name) })
	return out
}

// only is the value of a variable that can have one, else one that is not known.
func (v variable) only() field {
	if len(v.alts) == 1 && !v.alts[0].dyn && !v.alts[0].unset && !v.alts[0].array && v.alts[0].word == nil {
		return field{text: v.alts[0].text}
	}
	return field{dyn: true}
}
