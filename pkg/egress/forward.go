package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ethos/pkg/egress/head"
	"ethos/pkg/egress/rule"
	"ethos/pkg/egress/upstream"
)

// forwarder forwards plain HTTP requests. Package head has already rejected
// ambiguous requests when net/http reads the request again;
// httputil.ReverseProxy removes the hop-by-hop fields and handles upgrades. A
// connection carries one request, in and out, so that no second request hides
// behind the first. net/http treats a client that closes its sending direction
// as gone.
type forwarder struct {
	proxy       *httputil.ReverseProxy
	headTimeout time.Duration
}

func newForwarder(g *Gateway) *forwarder {
	f := &forwarder{headTimeout: g.config.HeadTimeout}
	quiet := log.New(io.Discard, "", 0)
	f.proxy = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.Host = r.Out.URL.Host
			r.Out.URL.RawQuery = r.In.URL.RawQuery // exactly as the client wrote it
		},
		Transport:      transport(),
		ModifyResponse: fewAnswered,
		ErrorLog:       quiet,
		ErrorHandler:   f.failed,
	}
	return f
}

// errand is one request being forwarded: the checked destination, and the
// connection dialled for it.
type errand struct {
	*attempt
	via     *url.URL // an HTTP proxy that accepts the plain request
	wire    *counted
	failure atomic.Pointer[Event]
}

type errandKey struct{}

func errandOf(ctx context.Context) *errand {
	e, _ := ctx.Value(errandKey{}).(*errand)
	return e
}

func transport() *http.Transport {
	return &http.Transport{
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			if wire := errandOf(ctx).wire; wire.taken.CompareAndSwap(false, true) {
				return wire, nil
			}
			return nil, errors.New("a request has one connection")
		},
		Proxy: func(r *http.Request) (*url.URL, error) { return errandOf(r.Context()).via, nil },
	}
}

// counted counts the bytes of a request.
type counted struct {
	net.Conn
	taken          atomic.Bool
	sent, received atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.received.Add(int64(n))
	return n, err
}

// Write counts before it writes, because the answer may arrive before write(2)
// returns.
func (c *counted) Write(p []byte) (int, error) {
	c.sent.Add(int64(len(p)))
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n - len(p)))
	return n, err
}

// plain forwards one request that is not a CONNECT.
func (g *Gateway) plain(ctx context.Context, client *inbound, request head.Request, raw []byte) {
	authority, err := request.Authority()
	if err != nil {
		g.hangUp(client, g.malformed(DoorHTTP, request.Host, err))
		return
	}
	host, port, err := rule.ParseAuthority(authority, 80)
	event, err := g.ask(DoorHTTP, host, port, authority, err, func(a *attempt) error {
		e := &errand{attempt: a}
		if err := e.dial(ctx); err != nil {
			return err
		}
		client.pending = append(raw, client.pending...)
		e.run(ctx, client)
		return nil
	})
	if err != nil {
		g.hangUp(client, event)
	}
}

// run forwards the request that the client has sent.
func (e *errand) run(ctx context.Context, client *inbound) {
	if client.SetDeadline(time.Time{}) == nil {
		e.gateway.forward.one(context.WithValue(ctx, errandKey{}, e), client)
	}
	e.wire.Close()
	client.Close()
	if failure := e.failure.Load(); failure != nil {
		e.event = *failure
	}
	e.event.Sent, e.event.Received = e.wire.sent.Load(), e.wire.received.Load()
	if ctx.Err() != nil && (e.event.Reason == Interrupted || e.event.Reason == "" && e.event.Received == 0) {
		e.event.Reason, e.event.Detail = Stopped, stillOpen
	}
}

// dial connects for a request: to a checked address, through a tunnel of an
// upstream proxy, or to an upstream proxy that forwards the request.
func (e *errand) dial(ctx context.Context) error {
	if err := e.judge(); err != nil {
		return err
	}
	if err := e.admit(ctx); err != nil {
		return err
	}
	g := e.gateway
	via := g.config.Upstream.Forward(e.host.String(), e.event.Port)
	if via == nil || via.Scheme != "http" {
		conn, err := e.reach(ctx, via)
		e.wire = &counted{Conn: conn}
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, g.config.DialTimeout)
	defer cancel()
	e.via, e.event.Via = via, upstream.Redacted(via)
	conn, err := upstream.Dial(ctx, g.config.Dialer, via)
	if err != nil {
		return refuse(UpstreamError, err)
	}
	e.wire = &counted{Conn: conn}
	_, err = e.opened(conn)
	return err
}

func (f *forwarder) one(ctx context.Context, client *inbound) {
	serveConn(ctx, client, &http.Server{Handler: f, ReadHeaderTimeout: f.headTimeout}, false)
}

// serveConn serves one connection with net/http until the connection is closed,
// with TLS if the server has a configuration for it.
func serveConn(ctx context.Context, conn net.Conn, server *http.Server, keepAlive bool) {
	done := make(chan struct{})
	server.BaseContext = func(net.Listener) context.Context { return ctx }
	server.MaxHeaderBytes = 2 * head.Limit
	server.ErrorLog = log.New(io.Discard, "", 0)
	server.SetKeepAlivesEnabled(keepAlive)
	listener := &single{conn: &closing{Conn: conn, done: done}, done: done}
	if server.TLSConfig != nil {
		_ = server.ServeTLS(listener, "", "") // returns when the connection closes
	} else {
		_ = server.Serve(listener)
	}
	<-done
}

// ServeHTTP sends a request to the checked host, whatever host the request text
// names.
func (f *forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e := errandOf(r.Context())
	r.URL.Scheme, r.URL.User = "http", nil
	r.URL.Host = strings.TrimSuffix(e.host.JoinPort(e.event.Port), ":80")
	i := e.gateway.config.Intercept
	opens := i.opens(e.host, e.event.Port)
	var err error
	if e.via != nil && e.via.User != nil && echoes(r.Method) {
		err = refuse(DeniedRequest, fmt.Errorf("the answer to %s may show the password for the proxy %s", r.Method, e.event.Via))
	} else if opens {
		err = i.judge(e.host, e.event.Port, false, r)
	}
	if err != nil {
		e.note(err)
		failure := e.event
		failure.Allowed = false
		e.failure.Store(&failure)
		tell(w, r, failure)
		return
	}
	if opens {
		i.inject(e.host, false, r)
	}
	f.proxy.ServeHTTP(w, r)
}

// tell writes a refusal as the HTTP response. A client that has taken one
// connection of HTTP/2 for the hosts of another is told to make its own: RFC
// 9113, section 9.1.2.
func tell(w http.ResponseWriter, r *http.Request, e Event) {
	status, body := answer(e)
	if r.ProtoMajor == 2 && e.Reason == DeniedHost {
		status = http.StatusMisdirectedRequest
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set(ErrorHeader, string(e.Reason))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have disconnected
}

func (f *forwarder) failed(w http.ResponseWriter, r *http.Request, err error) {
	e := errandOf(r.Context())
	failure := e.event
	failure.Reason, failure.Detail = Interrupted, err.Error()
	e.failure.Store(&failure)
	tell(w, r, failure)
}

// single is a listener that returns one connection.
type single struct {
	conn net.Conn
	once sync.Once
	done chan struct{}
}

func (s *single) Accept() (conn net.Conn, err error) {
	s.once.Do(func() { conn = s.conn })
	if conn != nil {
		return conn, nil
	}
	<-s.done
	return nil, net.ErrClosed
}

func (s *single) Close() error   { return nil }
func (s *single) Addr() net.Addr { return s.conn.LocalAddr() }

// closing signals when its connection is closed.
type closing struct {
	net.Conn
	once sync.Once
	done chan struct{}
}

func (c *closing) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { close(c.done) })
	return err
}
