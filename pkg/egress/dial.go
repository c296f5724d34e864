package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"time"

	"ethos/pkg/egress/relay"
	"ethos/pkg/egress/rule"
	"ethos/pkg/egress/upstream"
)

// dial connects for a client. If the host is an opened one, the client has to
// have a place first.
func (a *attempt) dial(ctx context.Context) (relay.Conn, error) {
	if a.gateway.config.Intercept.opens(a.host, a.event.Port) {
		if err := a.judge(); err != nil {
			return nil, err
		}
		if err := a.admit(ctx); err != nil {
			return nil, err
		}
	}
	return a.again(ctx)
}

// again checks the destination, resolves it, checks the addresses and connects.
// It records the decision in the attempt.
func (a *attempt) again(ctx context.Context) (relay.Conn, error) {
	if err := a.judge(); err != nil {
		return nil, err
	}
	return a.reach(ctx, a.gateway.config.Upstream.Tunnel(a.host.String(), a.event.Port))
}

// reach connects to the checked host, through the proxy via unless via is nil.
func (a *attempt) reach(ctx context.Context, via *url.URL) (relay.Conn, error) {
	config := a.gateway.config
	ctx, cancel := context.WithTimeout(ctx, config.DialTimeout)
	defer cancel()
	if via != nil {
		a.event.Via = upstream.Redacted(via)
		conn, err := upstream.Connect(ctx, config.Dialer, via, a.host.JoinPort(a.event.Port))
		if err != nil {
			return nil, refuse(UpstreamError, err)
		}
		return a.opened(conn)
	}
	addrs, err := a.addresses(ctx)
	if err != nil {
		return nil, err
	}
	conn, err := race(ctx, config.Dialer, addrs, a.event.Port, a.gateway.further)
	if err != nil {
		return nil, refuse(Unreachable, err)
	}
	return a.opened(conn)
}

// judge checks the destination against the rules before any name is resolved.
func (a *attempt) judge() error {
	v := a.gateway.config.Rules.Destination(a.host, a.event.Port)
	a.event.Rule = v.Rule
	if !v.Allowed {
		return &Refusal{Verdict: v}
	}
	return nil
}

func (a *attempt) opened(conn net.Conn) (relay.Conn, error) {
	half, ok := conn.(relay.Conn)
	if !ok {
		conn.Close()
		return nil, refuse(Unreachable, errors.New("the dialer's connection has no half-close"))
	}
	if tcp, ok := conn.(*net.TCPConn); ok && isLoopback(tcp.RemoteAddr()) {
		relay.Local(tcp)
	}
	a.event.Allowed = true
	if a.event.Via == "" {
		a.event.Address = conn.RemoteAddr().String()
	}
	return half, nil
}

func isLoopback(at net.Addr) bool {
	tcp, ok := at.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// maxAddresses limits the addresses tried for one name.
const maxAddresses = 32

// addresses returns the allowed addresses of the host. It leaves out refused
// addresses; if none is left, it returns the first refusal as the error.
func (a *attempt) addresses(ctx context.Context) ([]netip.Addr, error) {
	if a.host.Addr().IsValid() {
		return []netip.Addr{a.host.Addr()}, nil // already checked by judge
	}
	found, err := a.gateway.resolutions.lookup(ctx, a.host)
	if err != nil {
		return nil, refuse(Unresolved, err)
	}
	return judged(a.host, found, func(addr netip.Addr) rule.Verdict {
		return a.gateway.config.Rules.Address(a.host, addr, a.event.Port)
	})
}

// headStart is the time one address is tried before the next one starts: RFC
// 8305, section 5.
const headStart = 250 * time.Millisecond

// maxFurther limits, over all connections together, the addresses tried in
// parallel to the first address of each connection. Without it an outside name
// server could return many addresses that never answer.
const maxFurther = 128

// race connects to the first address that answers. It starts the next attempt
// when one has failed, or when its head start is over and further has room.
func race(ctx context.Context, dialer Dialer, addrs []netip.Addr, port uint16, further chan struct{}) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		conn net.Conn
		err  error
	}
	results := make(chan result)
	timer := time.NewTimer(0)
	defer timer.Stop()
	running, next := 0, 0
	var first error
	for next < len(addrs) || running > 0 {
		select {
		case <-timer.C:
			if next == len(addrs) {
				continue
			}
			done := func() {}
			if running > 0 {
				select {
				case further <- struct{}{}:
					done = func() { <-further }
				default:
					timer.Reset(headStart)
					continue
				}
			}
			address := netip.AddrPortFrom(addrs[next], port).String()
			next++
			running++
			timer.Reset(headStart)
			go func() {
				conn, err := dialer.DialContext(ctx, "tcp", address)
				done()
				select {
				case results <- result{conn, err}:
				case <-ctx.Done():
					if err == nil {
						conn.Close()
					}
				}
			}()
		case r := <-results:
			if r.err == nil {
				return r.conn, nil
			}
			running--
			if first == nil {
				first = r.err
			}
			timer.Reset(0)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, first
}
