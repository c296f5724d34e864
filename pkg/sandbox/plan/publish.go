package plan

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"ethos/pkg/ceiling"
)

// Published is a port of the host that is forwarded to a port of the command's loopback
// interface.
type Published struct {
	Host netip.AddrPort `json:"host"`
	Port uint16         `json:"port"` // inside
}

func (p Published) String() string {
	return p.Host.String() + " -> " + strconv.Itoa(int(p.Port))
}

const publishHint = "write it as PORT for both, or as [ADDRESS:]HOSTPORT:PORT, such as 8080:8000, where the address is 127.0.0.1 or ::1 in brackets"

// ParsePublished parses [ADDRESS:]HOSTPORT:PORT, or one PORT for both.
func ParsePublished(text string) (p Published, malformed *Refusal) {
	malformed = Refuse(CodeDeclaration, publishHint, "%q is not a host port and a port inside", text)
	rest, inside := text, text
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		rest, inside = text[:i], text[i+1:]
	}
	port, err := strconv.ParseUint(inside, 10, 16)
	if err != nil || port == 0 {
		return p, malformed
	}
	p.Port = uint16(port)
	if !strings.Contains(rest, ":") {
		rest = "127.0.0.1:" + rest
	}
	if p.Host, err = netip.ParseAddrPort(rest); err != nil || p.Host.Port() == 0 {
		return p, malformed
	}
	return p, nil
}

// publish reads the ports to be published.
func (b *builder) publish(p *Plan) error {
	for _, text := range b.spec.Publish {
		published, err := p.Published(text, b.spec.PublishAny)
		if err != nil {
			return err
		}
		p.Publish = append(p.Publish, published)
	}
	return nil
}

// Published parses [ADDRESS:]HOSTPORT:PORT, or one PORT for both, and refuses a port that
// cannot be published while the plan is in force. An address other than loopback needs
// anywhere.
func (p *Plan) Published(text string, anywhere bool) (Published, error) {
	published, malformed := ParsePublished(text)
	switch {
	case p.Unpublished:
		return published, Refuse(CodeDeclaration, "omit --publish", "%s limits the network, and a published port would let others in", ceiling.Dir)
	case malformed != nil:
		return published, Refuse(CodeDeclaration, malformed.Hint, "--publish %w", malformed)
	case !published.Host.Addr().IsLoopback() && !anywhere:
		return published, Refuse(CodeDeclaration, "use 127.0.0.1 or ::1, or add --publish-any", "--publish %q lets other machines in", text)
	case !p.Publishes():
		return published, Refuse(CodeDeclaration, "use --net loopback or --net proxy", "network %q has no ports to publish", p.Network)
	case p.takes(published.Port):
		return published, Refuse(CodeDeclaration, "have the command listen on another port from 1024 up, and publish that",
			"--publish %q: the command cannot listen on port %d", text, published.Port)
	}
	return published, nil
}

// Publishes reports whether ports of the plan's network can be published.
func (p *Plan) Publishes() bool { return p.Network == "loopback" || p.Network == "proxy" }

// takes reports whether the command cannot listen on a loopback port inside. A connection
// from the host to such a port would reach the supervisor.
func (p *Plan) takes(port uint16) bool {
	if port < privilegedPorts || p.Egress == nil {
		return port < privilegedPorts
	}
	return slices.ContainsFunc(p.Egress.Listen, func(at netip.AddrPort) bool {
		return at.Port() == port && (at.Addr().IsLoopback() || at.Addr().IsUnspecified())
	})
}
