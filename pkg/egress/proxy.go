package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"ethos/pkg/egress/head"
	"ethos/pkg/egress/relay"
	"ethos/pkg/egress/rule"
	"ethos/pkg/egress/socks"
)

// ServeProxy serves the explicit proxy: HTTP CONNECT, plain HTTP and SOCKS5 on
// one port. It closes the listener.
func (g *Gateway) ServeProxy(ctx context.Context, listener net.Listener) error {
	return g.serve(ctx, listener, g.explicit)
}

// explicit selects the protocol by the first byte.
func (g *Gateway) explicit(ctx context.Context, conn *net.TCPConn) {
	stop := context.AfterFunc(ctx, func() { relay.Reset(conn) })
	defer stop()
	client := &inbound{Conn: conn}
	first := make([]byte, 1)
	if conn.SetDeadline(time.Now().Add(g.config.HeadTimeout)) != nil {
		return
	}
	if _, err := io.ReadFull(conn, first); err != nil {
		conn.Close()
		return
	}
	client.pending = first
	if first[0] == socks.Version {
		g.socks(ctx, client)
		return
	}
	g.http(ctx, client)
}

func (g *Gateway) socks(ctx context.Context, client *inbound) {
	request, err := socks.Handshake(client)
	if err != nil {
		g.malformed(DoorSOCKS5, "", err)
		client.Close()
		return
	}
	host, err := rule.ParseHost(request.Host)
	_, err = g.ask(DoorSOCKS5, host, request.Port, request.Host, err, func(a *attempt) error {
		server, err := a.dial(ctx)
		if err != nil {
			return err
		}
		if socks.Reply(client, socks.Succeeded) != nil || client.SetDeadline(time.Time{}) != nil {
			a.abandoned(ctx, client, server)
			return nil
		}
		a.tunnel(ctx, client, server)
		return nil
	})
	if err != nil {
		_ = socks.Reply(client, replyCode(err)) // the client may have disconnected
		client.Close()
	}
}

// ask is an attempt at an explicit door. err is the error from parsing the host.
func (g *Gateway) ask(door Door, host rule.Host, port uint16, text string, err error, run func(a *attempt) error) (Event, error) {
	if err == nil {
		host, err = g.named(host)
	} else {
		err = refuse(BadRequest, err)
	}
	return g.try(door, host, port, func(a *attempt) error {
		if host.IsZero() {
			a.event.Name = text
		}
		if err != nil {
			return err
		}
		return run(a)
	})
}

// malformed writes the event of a client that failed before it named a
// destination.
func (g *Gateway) malformed(door Door, name string, err error) Event {
	e, _ := g.ask(door, rule.Host{}, 0, name, err, nil)
	return e
}

// abandoned is the end of an attempt whose client disconnected during the dial,
// or whose gateway was stopped.
func (a *attempt) abandoned(ctx context.Context, client, server net.Conn) {
	relay.Reset(client, server)
	a.event.Reason, a.event.Detail = Interrupted, "the client went away"
	if ctx.Err() != nil {
		a.event.Reason, a.event.Detail = Stopped, stillOpen
	}
}

func (g *Gateway) http(ctx context.Context, client *inbound) {
	raw, rest, err := head.Read(client, head.Limit)
	var request head.Request
	if err == nil {
		client.pending = rest
		request, err = head.Parse(raw)
	}
	if err != nil {
		g.hangUp(client, g.malformed(DoorHTTP, "", err))
		return
	}
	if request.Method == "CONNECT" {
		g.connect(ctx, client, request)
		return
	}
	g.plain(ctx, client, request, raw)
}

// hangUp answers with a refusal and closes the connection. It first reads, for
// a moment, what the client has still sent: otherwise the kernel would reset
// the connection and discard the answer.
func (g *Gateway) hangUp(client *inbound, e Event) {
	defer client.Close()
	if client.SetDeadline(time.Now().Add(time.Second)) != nil {
		return
	}
	if _, err := client.Write(response(e)); err != nil {
		return
	}
	if client.CloseWrite() == nil {
		_, _ = io.CopyN(io.Discard, client, 1<<20)
	}
}

func (g *Gateway) connect(ctx context.Context, client *inbound, request head.Request) {
	host, port, err := rule.ParseAuthority(request.Target, 0)
	if err == nil && strings.Contains(request.Target, "@") {
		err = errors.New("user information in the target of CONNECT")
	}
	e, err := g.ask(DoorConnect, host, port, request.Target, err, func(a *attempt) error {
		server, err := a.dial(ctx)
		if err != nil {
			return err
		}
		_, err = io.WriteString(client, "HTTP/1.1 200 Connection Established\r\n\r\n")
		if err != nil || client.SetDeadline(time.Time{}) != nil {
			a.abandoned(ctx, client, server)
			return nil
		}
		a.tunnel(ctx, client, server)
		return nil
	})
	if err != nil {
		g.hangUp(client, e)
	}
}
