package plan

import (
	"fmt"

	"ethos/pkg/capability"
	"ethos/pkg/ceiling"
)

// underCeiling takes away what goes past the ceiling of the machine. Paths are compared as
// what they lead to.
func (b *builder) underCeiling() error {
	c, err := b.files.files.Ceiling()
	if err != nil {
		return Refuse(CodeSetup, "the administrator mends "+ceiling.Dir+"; ethos-decide ceiling shows what is read", "%w", err)
	}
	if c == nil {
		return nil
	}
	b.ceiling = c.Digest
	b.spec.Require = append(b.spec.Require[:len(b.spec.Require):len(b.spec.Require)], c.Require...)
	if err := b.lent(c); err != nil {
		return err
	}
	space := capability.Space{Workspace: b.spec.Workspace, Home: b.home}
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

// lent refuses what is no capability and goes past one.
func (b *builder) lent(c *ceiling.Ceiling) error {
	bounds := func(name string) bool { return c.Capabilities.Has(name) }
	switch {
	case b.spec.Debug && bounds("seccomp_profile"):
		return Refuse(CodeDeclaration, "leave --debug out", "%s does not allow a command to trace its processes", ceiling.Dir)
	case len(b.spec.Publish) > 0 && (bounds("network.mode") || bounds("network.bind_ports")):
		return Refuse(CodeDeclaration, "leave --publish out", "%s bounds the network, and a port that is published leads in", ceiling.Dir)
	}
	return nil
}

// leading is what is asked for, with each path as what it leads to: a link that
// somebody has made gives nothing more.
func (b *builder) leading(a capability.Asked) (capability.Asked, error) {
	for _, s := range []*capability.Set{&a.Set, &a.Base} {
		for _, list := range []*[]string{&s.ReadPaths, &s.WritePaths, &s.UnixSockets} {
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
				if p.path == at.Name { // as it was written, so that what is missing is said as ever
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
