package plan

import (
	"fmt"
	"strings"
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/ceiling"
)

// underCeiling reduces the request to the machine's ceiling. Paths are compared after
// symbolic links are resolved.
func (b *builder) underCeiling() error {
	c, err := b.files.files.Ceiling()
	if err != nil {
		return Refuse(CodeSetup, "have the administrator of this machine correct "+ceiling.Dir+"; ethos-decide ceiling shows what is read", "%w", err)
	}
	if c == nil {
		return nil
	}
	b.ceiling = c
	b.spec.Require = append(b.spec.Require[:len(b.spec.Require):len(b.spec.Require)], c.Require...)
	if err := b.lent(c); err != nil {
		return err
	}
	space := b.space()
	if c.Capabilities.Paths(space).Access(b.spec.Workspace).Read == capability.Denied {
		return Refuse(CodeDeclaration, "work elsewhere, or have the administrator of this machine change "+ceiling.Dir, "%s: deny_read_paths: no command may read the work space %s", ceiling.Dir, b.spec.Workspace)
	}
	real, err := b.leading(b.spec.Asked)
	if err != nil {
		return asRefusal(err)
	}
	met, past, asked := c.Capabilities.BelowAsked(space, &real)
	switch {
	case asked:
		return Refuse(CodeDeclaration, "ask for less, or have the administrator of this machine change "+ceiling.Dir, "%s: %s", ceiling.Dir, past[0])
	case len(past) == 0:
		return nil
	}
	b.spec.Asked, b.set = met, met.Whole()
	for _, e := range past {
		b.note(ceiling.Dir, "%s", e)
	}
	return nil
}

// lent refuses requests that are not part of the capability set but would exceed the
// ceiling.
func (b *builder) lent(c *ceiling.Ceiling) error {
	bounds := func(name string) bool { return c.Capabilities.Has(name) }
	if b.spec.Debug && bounds("seccomp_profile") {
		return Refuse(CodeDeclaration, "omit --debug", "%s does not allow a command to trace its processes", ceiling.Dir)
	}
	return nil
}

func (b *builder) space() capability.Space {
	return capability.Space{Workspace: b.spec.Workspace, Home: b.home}
}

// bound copies into the plan what the ceiling limits while the command runs.
func (b *builder) bound(p *Plan) {
	if b.ceiling == nil {
		return
	}
	c := &b.ceiling.Capabilities
	p.Ceiling, p.MostTime, p.Unpublished = b.ceiling.Digest, c.MostTime(), c.Has("network.mode") || c.Has("network.bind_ports")
	p.MostMemory = c.MostMemory()
}

// AtMost is the hint where a limit is the highest that the ceiling allows.
const AtMost = "the administrator of this machine allows no more (" + ceiling.Dir + "): have the command do less at once"

// TimeHint says what a person does about a command that was killed at a time limit. most is the
// highest that the ceiling allows, 0 for any.
func TimeHint(limit, most time.Duration) string {
	if most > 0 && limit >= most {
		return AtMost
	}
	return "allow more time with --timeout"
}

// MemoryHint is TimeHint for memory.
func MemoryHint(limit, most int64) string {
	if most > 0 && limit >= most {
		return AtMost
	}
	return "allow more memory with --memory"
}

// denials returns denies for the grants that lie in a path that the ceiling denies. Without
// them such a grant would win as the deeper path, wherever it comes from: PATH, git's
// configuration or a git directory. Paths that were requested by name have been refused
// before, and the system's directories are open to every command.
func (b *builder) denials(rules []rule) (list []rule) {
	if b.ceiling == nil {
		return nil
	}
	limit := b.ceiling.Capabilities.Paths(b.space())
	for _, r := range rules {
		opens := r.class == grantRead || r.class == grantWrite || r.class == allowWithinDeny
		if !opens || r.why == whySystem || r.why == whyMachine {
			continue
		}
		switch a := limit.Access(r.path); {
		case a.Read == capability.Denied:
			list = append(list, rule{r.resolvedPath, denyRead, ceiling.Dir})
		case a.Write == capability.Denied && r.class == grantWrite && r.why != unixSocket:
			list = append(list, rule{r.resolvedPath, denyWrite, ceiling.Dir})
		}
	}
	return list
}

// leading returns the request with each path replaced by what it resolves to, so that a
// link that somebody has made grants nothing more.
func (b *builder) leading(a capability.Asked) (capability.Asked, error) {
	for _, s := range []*capability.Set{&a.Set, &a.Base} {
		for _, list := range []*[]string{&s.ReadPaths, &s.WritePaths, &s.AllowReadWithinDeny, &s.UnixSockets} {
			var out []string
			for _, text := range *list {
				at, err := b.expand(text)
				if err != nil {
					out = append(out, text)
					continue
				}
				p, err := b.files.resolve(at.Name)
				if err != nil {
					return a, fmt.Errorf("%s: %w", text, err)
				}
				if p.path == at.Name && !strings.Contains(text, "$") { // unchanged, so that messages about a missing path show it as written
					out = append(out, text)
					continue
				}
				if at.Optional {
					p.path += "?"
				}
				out = append(out, p.path)
			}
			*list = out
		}
	}
	return a, nil
}
