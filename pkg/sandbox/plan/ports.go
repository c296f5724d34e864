package plan

import (
	"fmt"
	"strings"

	"ethos/pkg/capability"
)

// Ports limit the TCP ports that the command can use. With such limits the command has no
// other internet protocol, because the kernel's rules cover TCP only.
type Ports struct {
	Connect []string `json:"connect,omitempty"` // "none" alone is no port; empty is every port
	Bind    []string `json:"bind,omitempty"`    // likewise; "0" is a port that the kernel chooses
}

// String describes the ports for people: "TCP alone, connect 443, bind 8080".
func (p *Ports) String() string {
	text := "TCP alone"
	for _, l := range []struct {
		verb string
		list []string
	}{{"connect", p.Connect}, {"bind", p.Bind}} {
		if len(l.list) > 0 {
			text += fmt.Sprintf(", %s %s", l.verb, strings.Join(l.list, " "))
		}
	}
	return text
}

// ports reads the declared ports.
func (b *builder) ports(p *Plan) error {
	n := &b.set.Network
	for _, l := range []struct {
		flag string
		list []string
	}{{"allow-connect", n.ConnectPorts}, {"allow-bind", n.BindPorts}} {
		if _, _, err := capability.Ports(l.list, l.flag == "allow-bind"); err != nil {
			return Refuse(CodeDeclaration, "write it as --"+l.flag+" 8080", "--%s: %w", l.flag, err)
		}
	}
	switch {
	case len(n.ConnectPorts)+len(n.BindPorts) == 0:
		return nil
	case n.Mode == "none":
		return Refuse(CodeDeclaration, "omit the ports, or use --net loopback or --net host", "network %q has no ports", n.Mode)
	case n.Mode == "proxy":
		return Refuse(CodeDeclaration, "write the port after the name: --allow-domain NAME:PORT", "network %q allows ports by name", n.Mode)
	}
	p.Ports = &Ports{sorted(n.ConnectPorts), sorted(n.BindPorts)}
	return nil
}

// unixFamily sets whether the command can make Unix sockets.
func (b *builder) unixFamily(p *Plan) error {
	switch p.NoUnixSockets = b.set.UnixFamily == capability.NoUnixSockets; {
	case b.set.UnixFamily != "" && !p.NoUnixSockets:
		return Refuse(CodeDeclaration, "use "+capability.NoUnixSockets+", or omit it", "unknown unix_family %q", b.set.UnixFamily)
	case p.NoUnixSockets && len(b.set.UnixSockets) > 0:
		return Refuse(CodeDeclaration, "remove one of the two", "unix socket %s is declared, but unix_family denies Unix sockets", b.set.UnixSockets[0])
	}
	return nil
}
