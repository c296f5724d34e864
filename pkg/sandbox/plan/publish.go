package plan

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Published is a port of the host whose connections go to a port of the
// command's own loopback.
type Published struct {
	Host netip.AddrPort `json:"host"`
	Port uint16         `json:"port"` // inside
}

func (p Published) String() string {
	return p.Host.String() + " -> " + strconv.Itoa(int(p.Port))
}

const publishHint = "write it as [ADDRESS:]HOSTPORT:PORT, such as 8080:8000, where the address is 127.0.0.1 or ::1 in brackets"

// parsePublished reads [ADDRESS:]HOSTPORT:PORT, or one PORT for both.
func parsePublished(text string) (p Published, err error) {
	refused := Refuse(CodeDeclaration, publishHint, "--publish %q is not a port of the host and one inside", text)
	rest, inside := text, text
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		rest, inside = text[:i], text[i+1:]
	}
	port, portErr := strconv.ParseUint(inside, 10, 16)
	if portErr != nil || port == 0 {
		return p, refused
	}
	p.Port = uint16(port)
	if !strings.Contains(rest, ":") {
		rest = "127.0.0.1:" + rest
	}
	if p.Host, err = netip.ParseAddrPort(rest); err != nil || p.Host.Port() == 0 {
		return p, refused
	}
	return p, nil
}

// publish reads the ports that are to be published.
func (b *builder) publish(p *Plan) error {
	for _, text := range b.spec.Publish {
		published, err := parsePublished(text)
		if err != nil {
			return err
		}
		if !published.Host.Addr().IsLoopback() && !b.spec.PublishAny {
			return Refuse(CodeDeclaration, "name 127.0.0.1 or ::1, or say --publish-any", "--publish %q lets other machines in", text)
		}
		if p.Network != "loopback" && p.Network != "proxy" {
			return Refuse(CodeDeclaration, "use --net loopback or --net proxy", "network %q has no ports to publish", p.Network)
		}
		if p.takes(published.Port) {
			return Refuse(CodeDeclaration, "have the command listen on another port from 1024 up, and publish that",
				"--publish %q: no server of the command can be at port %d", text, published.Port)
		}
		p.Publish = append(p.Publish, published)
	}
	return nil
}

// takes reports a port of the loopback inside that the command cannot listen
// on. Who came there by way of the host would be served by the supervisor.
func (p *Plan) takes(port uint16) bool {
	if port < privilegedPorts || p.Egress == nil {
		return port < privilegedPorts
	}
	return slices.ContainsFunc(p.Egress.Listen, func(at netip.AddrPort) bool {
		return at.Port() == port && (at.Addr().IsLoopback() || at.Addr().IsUnspecified())
	})
}
