package egress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"ethos/pkg/egress/hello"
	"ethos/pkg/egress/relay"
	"ethos/pkg/egress/rule"
)

// inbound is a client's connection, together with the bytes already read from
// it.
type inbound struct {
	relay.Conn
	pending []byte
}

func (c *inbound) Read(p []byte) (int, error) {
	if len(c.pending) > 0 {
		n := copy(p, c.pending)
		if c.pending = c.pending[n:]; len(c.pending) == 0 {
			c.pending = nil // the bytes themselves
		}
		return n, nil
	}
	return c.Conn.Read(p)
}

// tunnel relays between a client and the server dialled for it. It checks the
// client's first bytes before any of them reaches the server.
func (a *attempt) tunnel(ctx context.Context, client *inbound, server relay.Conn) {
	if a.gateway.config.Intercept.opens(a.host, a.event.Port) {
		a.open(ctx, client, server)
		return
	}
	a.carry(ctx, client, server)
}

// carry relays a connection without interception.
func (a *attempt) carry(ctx context.Context, client *inbound, server relay.Conn) {
	stop := context.AfterFunc(ctx, func() { relay.Reset(client.Conn, server) })
	defer stop()
	t := &tunnel{attempt: a, ctx: ctx, client: client, answered: make(chan struct{}), leaveHello: func() {}}
	var err error
	a.event.Sent, a.event.Received, err = relay.Both(client.Conn, server, t.up, t.down)
	t.leaveHello()
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		a.refuse(refusal)
	case ctx.Err() != nil && err != nil:
		a.event.Reason, a.event.Detail = Stopped, stillOpen
	case err != nil:
		a.event.Reason, a.event.Detail = Interrupted, err.Error()
	}
}

type tunnel struct {
	*attempt
	ctx    context.Context
	client *inbound

	longHello  bool // it has a place
	leaveHello func()

	retry    hello.Retry
	spoke    atomic.Bool   // the server has sent data
	answered chan struct{} // closed when retry has decided
}

func (t *tunnel) up(server, client relay.Conn) (sent int64, err error) {
	pieces := [][]byte{t.client.pending}
	if t.gateway.config.SNI == SNIRequire {
		if pieces, sent, err = t.judged(server); err != nil {
			return sent, err
		}
	}
	t.client.pending = nil
	for _, piece := range pieces {
		n, err := server.Write(piece)
		sent += int64(n)
		if err != nil {
			return sent, err
		}
	}
	t.leaveHello()
	n, err := relay.Stream(server, client)
	return sent + n, err
}

// judged reads the client's first bytes and returns those that may be sent. It
// sends a hello itself, and the bytes after it only once the server has
// answered. If the server asks for another hello, judged checks that one too,
// because some servers use its name.
func (t *tunnel) judged(server relay.Conn) (pieces [][]byte, sent int64, err error) {
	buffer := make([]byte, 1024)
	k, err := t.client.Read(buffer)
	if err == io.EOF {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	if t.spoke.Load() { // a TLS server never sends first
		return [][]byte{buffer[:k], t.client.pending}, 0, nil
	}
	t.client.pending = append(buffer[:k], t.client.pending...)
	first, err := t.read(hello.Read)
	if err != nil {
		return nil, 0, err
	}
	if !first.TLS {
		raw, err := t.plain(first.Raw)
		return [][]byte{raw, t.client.pending}, 0, err
	}
	n, err := server.Write(first.Raw)
	t.leaveHello()
	if err != nil {
		return nil, int64(n), err
	}
	t.client.pending = append(first.Rest, t.client.pending...)
	select {
	case <-t.answered:
	case <-time.After(t.gateway.config.DialTimeout):
		return nil, int64(n), refuse(Unreachable, errors.New("the server does not answer the ClientHello"))
	}
	if !t.retry.IsRetry() {
		return [][]byte{t.client.pending}, int64(n), nil
	}
	second, err := t.read(hello.ReadSecond)
	return [][]byte{second.Raw, second.Rest, t.client.pending}, int64(n), err
}

// read reads and checks a hello. A client that sends nothing has none.
func (t *tunnel) read(read func(io.Reader) (hello.First, error)) (hello.First, error) {
	first, err := read(&timely{tunnel: t, limit: t.gateway.config.HeadTimeout})
	if err == io.EOF {
		return hello.First{}, nil
	}
	if err = t.helloError(first, err); err != nil {
		return first, err
	}
	return first, t.client.SetReadDeadline(time.Time{})
}

// down copies from the server to the client. It reads the beginning itself,
// until that is known to be a HelloRetryRequest or not.
func (t *tunnel) down(client, server relay.Conn) (received int64, err error) {
	defer func() {
		select {
		case <-t.answered:
		default:
			close(t.answered)
		}
	}()
	buffer := make([]byte, 1024) // it may be kept for long
	for decided := false; !decided; {
		n, err := server.Read(buffer)
		if n > 0 {
			t.spoke.Store(true)
			if decided = t.retry.Feed(buffer[:n]); decided {
				close(t.answered)
			}
			if _, err := client.Write(buffer[:n]); err != nil {
				return received, err
			}
			received += int64(n)
		}
		if err == io.EOF {
			return received, nil
		}
		if err != nil {
			return received, err
		}
	}
	n, err := relay.Stream(client, server)
	return received + n, err
}

// helloError returns the error for a client's first bytes, or nil if they are
// allowed.
func (t *tunnel) helloError(first hello.First, err error) error {
	var timeout net.Error
	switch {
	case errors.Is(err, hello.ErrMalformed):
		return refuse(BadHello, err)
	case errors.As(err, &timeout) && timeout.Timeout():
		return refuse(BadHello, fmt.Errorf("the ClientHello did not arrive within %v", t.gateway.config.HeadTimeout))
	case err != nil || !first.TLS:
		return err
	case first.ECH:
		return refuse(HiddenName, errors.New("the ClientHello may name another server than it shows (ECH)"))
	}
	return t.serverName(first.ServerName)
}

// serverName checks the server name of a TLS client. A client of an address has
// none, or one that the rules allow on its own and that is not intercepted.
func (t *tunnel) serverName(text string) error {
	if text == "" && t.host.Addr().IsValid() {
		return nil
	}
	if text == "" {
		return refuse(DeniedSNI, fmt.Errorf("the TLS client names no server, but %s was checked", t.host))
	}
	name, err := rule.ParseHost(text)
	if err == nil && name == t.host {
		return nil
	}
	if err == nil && t.host.Addr().IsValid() {
		v := t.gateway.config.Rules.Destination(name, t.event.Port)
		if v.Allowed && !t.gateway.config.Intercept.opens(name, t.event.Port) {
			return nil
		}
	}
	return refuse(DeniedSNI, fmt.Errorf("the TLS client names the server %.300q, but %s was checked", text, t.host))
}

// timely limits the time of a message from its first byte on, but not the wait
// for that byte. A long message needs a place.
type timely struct {
	*tunnel
	limit time.Duration
	n     int
}

func (t *timely) Read(p []byte) (int, error) {
	if left := shortHello - t.n; left > 0 {
		p = p[:min(len(p), left)]
	} else if !t.longHello {
		leave, ok := t.gateway.hellos.take(t.ctx, t.limit)
		if !ok && t.ctx.Err() != nil {
			return 0, t.ctx.Err()
		}
		if !ok {
			return 0, refuse(Busy, fmt.Errorf("%d long first messages are being read", maxHellos))
		}
		t.longHello = true
		t.leaveHello = func() { leave(); t.longHello, t.leaveHello = false, func() {} }
	}
	n, err := t.client.Read(p)
	if n > 0 && t.n == 0 && tlsLike(p[:n]) {
		err = errors.Join(err, t.client.SetReadDeadline(time.Now().Add(t.limit)))
	}
	t.n += n
	return n, err
}

func tlsLike(b []byte) bool {
	return bytes.IndexByte([]byte{20, 21, 22, 23, 24}, b[0]) >= 0 || b[0]&0x80 != 0
}
