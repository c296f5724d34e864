package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"

	"ethos/pkg/egress/relay"
	"ethos/pkg/egress/rule"
)

// ServeTransparent serves connections whose local address is the destination
// that the program asked for: an address that the name server returned, an
// address that the rules name, or the loopback, which stands for the host's
// "localhost". It closes the listener.
func (g *Gateway) ServeTransparent(ctx context.Context, listener net.Listener) error {
	return g.serve(ctx, listener, g.transparent)
}

func (g *Gateway) transparent(ctx context.Context, conn *net.TCPConn) {
	local, ok := conn.LocalAddr().(*net.TCPAddr)
	if !ok {
		relay.Reset(conn)
		return
	}
	at := local.AddrPort()
	host, err := g.meant(at.Addr(), at.Port())
	_, err = g.try(DoorTransparent, host, at.Port(), func(a *attempt) error {
		if err != nil {
			return err
		}
		server, err := a.dial(ctx)
		if err != nil {
			return err
		}
		a.tunnel(ctx, &inbound{Conn: conn}, server)
		return nil
	})
	if err != nil {
		relay.Reset(conn)
	}
}

// meant returns the destination that a local address stands for.
func (g *Gateway) meant(addr netip.Addr, port uint16) (rule.Host, error) {
	host := rule.HostOf(addr)
	if name, ok := g.config.Table.Name(addr); ok {
		return rule.ParseHost(name)
	}
	if g.config.Table.Contains(addr) {
		return host, refuse(UnknownTarget, errors.New("no name has this address"))
	}
	if host.Addr().IsLoopback() && !g.config.Rules.Destination(host, port).Allowed {
		return rule.Localhost, nil
	}
	return host, nil
}

// named returns the destination that a client of the explicit proxy asks for.
// An address of the table stands for its name here too.
func (g *Gateway) named(host rule.Host) (rule.Host, error) {
	if !host.Addr().IsValid() || !g.config.Table.Contains(host.Addr()) {
		return host, nil
	}
	return g.meant(host.Addr(), 0)
}
