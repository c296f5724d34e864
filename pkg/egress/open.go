package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ethos/pkg/egress/hello"
	"ethos/pkg/egress/relay"
)

// opened is a connection to an intercepted host. Its requests are read one by
// one, checked, and sent to that host.
type opened struct {
	*attempt
	secure bool
	server atomic.Pointer[relay.Conn] // already dialled, for the first request
	proxy  *httputil.ReverseProxy

	serving  sync.RWMutex          // each request has it for reading
	dialling sync.RWMutex          // each further connection has it for reading
	failure  atomic.Pointer[error] // the last server error

	http2 claim
}

// open serves a client of an intercepted host. Each refused request has an event
// of its own, and so has each further connection to the host.
func (a *attempt) open(ctx context.Context, client *inbound, server relay.Conn) {
	defer server.Close()
	stop := context.AfterFunc(ctx, func() { relay.Reset(client.Conn) })
	defer stop()
	t := &tunnel{attempt: a, ctx: ctx, client: client, leaveHello: func() {}}
	first, err := t.first()
	t.leaveHello()
	if err == io.EOF { // the client sent no request
		client.Close()
		return
	}
	if err != nil {
		relay.Reset(client.Conn, server)
		a.refuse(err)
		return
	}
	client.pending = append(append(first.Raw, first.Rest...), client.pending...)
	if first.TLS && a.gateway.config.Intercept.Authority == nil {
		a.leave() // the place; nothing is read
		a.leave = func() {}
		a.carry(ctx, client, server)
		return
	}
	o := &opened{attempt: a, secure: first.TLS}
	o.server.Store(&server)
	serving, stopServing := context.WithCancelCause(ctx)
	o.proxy = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.Host = r.Out.URL.Host
			r.Out.URL.RawQuery = r.In.URL.RawQuery
			r.Out.Trailer = r.In.Trailer // filled when the body has ended
		},
		Transport:      o.transport(serving),
		ModifyResponse: fewAnswered,
		ErrorLog:       log.New(io.Discard, "", 0),
		ErrorHandler:   o.failed,
	}
	counter := &counted{Conn: client}
	serveConn(ctx, counter, o.toClient(), true)
	o.serving.Lock() // requests over HTTP/2 may outlive the connection for a moment
	stopServing(errGone)
	o.dialling.Lock()
	turnedAway := o.http2.end()
	a.event.Sent, a.event.Received = counter.received.Load(), counter.sent.Load()
	if turnedAway != nil {
		a.refuse(turnedAway)
	}
	if failure := o.failure.Load(); failure != nil {
		a.event.Reason, a.event.Detail = Interrupted, (*failure).Error()
	}
}

func (o *opened) toClient() *http.Server {
	s := &http.Server{Handler: o, ReadHeaderTimeout: o.gateway.config.HeadTimeout, IdleTimeout: time.Hour, HTTP2: towardsClients()}
	if o.secure {
		s.TLSConfig = &tls.Config{GetCertificate: o.certificate, GetConfigForClient: o.greeting}
	}
	return s
}

// first reads the client's hello, or the first bytes of a plain request. It
// waits for a client that sends nothing.
func (t *tunnel) first() (hello.First, error) {
	first, err := hello.Read(&timely{tunnel: t, limit: t.gateway.config.HeadTimeout})
	if err == nil && t.gateway.config.SNI == SNIAllow {
		return first, t.client.SetReadDeadline(time.Time{})
	}
	if err = t.helloError(first, err); err != nil {
		return first, err
	}
	return first, t.client.SetReadDeadline(time.Time{})
}

func (o *opened) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return o.gateway.config.Intercept.Authority.Certificate(o.host.String())
}

// transport returns a transport to the checked host. It uses the existing
// connection first, then new ones, which are checked in the same way. The end
// of ctx closes them.
func (o *opened) transport(ctx context.Context) *http.Transport {
	return &http.Transport{
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
		MaxConnsPerHost:        8,
		ForceAttemptHTTP2:      true,
		HTTP2:                  towardsServers(),
		TLSHandshakeTimeout:    o.gateway.config.DialTimeout,
		TLSClientConfig:        &tls.Config{ServerName: o.host.String(), RootCAs: o.gateway.config.Intercept.Roots},
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			if server := o.server.Swap(nil); server != nil {
				return hold(ctx, *server), nil
			}
			return o.further(ctx)
		},
	}
}

// errGone ends the connections to the host of a client that has ended its own.
var errGone = errors.New("the client went away")

// further connects to the checked host once more. The attempt lasts as long as
// the connection does.
func (o *opened) further(ctx context.Context) (net.Conn, error) {
	if !o.dialling.TryRLock() {
		return nil, errGone
	}
	connected, failed := make(chan net.Conn, 1), make(chan error, 1)
	go func() {
		defer o.dialling.RUnlock()
		_, err := o.gateway.try(o.event.Door, o.host, o.event.Port, func(a *attempt) error {
			server, err := a.again(ctx)
			if err != nil && context.Cause(ctx) == errGone {
				err = refuse(Interrupted, errGone)
			}
			if err != nil {
				return err
			}
			conn := hold(ctx, server)
			connected <- conn
			<-conn.closed
			a.event.Sent, a.event.Received = conn.sent.Load(), conn.received.Load()
			return nil
		})
		if err != nil {
			failed <- err
		}
	}()
	select {
	case conn := <-connected:
		return conn, nil
	case err := <-failed:
		return nil, err
	}
}

// held is a connection that the end of a context closes.
type held struct {
	counted
	once   sync.Once
	closed chan struct{}
	stop   func() bool
}

func hold(ctx context.Context, conn net.Conn) *held {
	h := &held{counted: counted{Conn: conn}, closed: make(chan struct{})}
	h.stop = context.AfterFunc(ctx, func() { h.end() })
	return h
}

func (h *held) Close() error {
	h.stop()
	return h.end()
}

func (h *held) end() error {
	err := h.Conn.Close()
	h.once.Do(func() { close(h.closed) })
	return err
}

// ServeHTTP checks one request and sends it to the checked host.
func (o *opened) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !o.serving.TryRLock() {
		return // the connection has ended
	}
	defer o.serving.RUnlock()
	i := o.gateway.config.Intercept
	if err := i.judge(o.host, o.event.Port, o.secure, r); err != nil {
		o.refuseRequest(w, r, err)
		return
	}
	leave, err := o.gateway.request(r)
	if err != nil {
		o.refuseRequest(w, r, err)
		return
	}
	defer leave()
	i.inject(o.host, o.secure, r)
	scheme, standard := "http", ":80"
	if o.secure {
		scheme, standard = "https", ":443"
	}
	r.URL.Scheme, r.URL.User = scheme, nil
	r.URL.Host = strings.TrimSuffix(o.host.JoinPort(o.event.Port), standard)
	a := &reply{ResponseWriter: w}
	o.proxy.ServeHTTP(a, r)
	a.finish()
	forget(r)
}

// refuseRequest answers a request that is not forwarded, and writes its event.
// A client that does not take the answer has its stream reset.
func (o *opened) refuseRequest(w http.ResponseWriter, r *http.Request, err error) {
	e, _ := o.gateway.try(o.event.Door, o.host, o.event.Port, func(a *attempt) error {
		a.event.Rule = o.event.Rule
		return err
	})
	forget(r)
	if r.ProtoMajor == 2 {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(o.gateway.config.HeadTimeout))
	}
	tell(w, r, e)
}

// failed answers a request whose server failed. A client that has cancelled a
// stream is no failure.
func (o *opened) failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.ProtoMajor == 2 && r.Context().Err() != nil {
		return
	}
	o.failure.Store(&err)
	passReset(r, err)
	failure := Event{Door: o.event.Door, Name: o.event.Name, Port: o.event.Port, Reason: Unreachable, Detail: err.Error()}
	if refusal := (*Refusal)(nil); errors.As(err, &refusal) { // of a further connection
		failure.Reason, failure.Rule = refusal.Verdict.Reason, refusal.Verdict.Rule
	}
	tell(w, r, failure)
}
