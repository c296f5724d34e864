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

	failure atomic.Pointer[error] // the last server error
}

// open serves a client of an intercepted host and writes the event of its
// connection. Each refused request has an event of its own.
func (a *attempt) open(ctx context.Context, client *inbound, server relay.Conn) {
	defer server.Close()
	stop := context.AfterFunc(ctx, func() { relay.Reset(client.Conn) })
	defer stop()
	t := &tunnel{attempt: a, client: client}
	first, err := t.first()
	if err == io.EOF { // the client sent no request
		client.Close()
		a.end()
		return
	}
	if err != nil {
		relay.Reset(client.Conn, server)
		a.refused(err)
		return
	}
	client.pending = append(append(first.Raw, first.Rest...), client.pending...)
	if first.TLS && a.gateway.config.Intercept.Authority == nil {
		a.carry(ctx, client, server)
		return
	}
	o := &opened{attempt: a, secure: first.TLS}
	o.server.Store(&server)
	counter := &counted{Conn: client}
	var conn net.Conn = counter
	if o.secure {
		conn = tls.Server(counter, &tls.Config{
			NextProtos:     []string{"http/1.1"},
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return o.certificate() },
		})
	}
	transport := o.transport()
	defer transport.CloseIdleConnections()
	o.proxy = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.Host = r.Out.URL.Host
			r.Out.URL.RawQuery = r.In.URL.RawQuery
		},
		Transport:    transport,
		ErrorLog:     log.New(io.Discard, "", 0),
		ErrorHandler: o.failed,
	}
	serveConn(ctx, conn, &http.Server{Handler: o, ReadHeaderTimeout: a.gateway.config.HeadTimeout, IdleTimeout: time.Hour}, true)
	a.event.Sent, a.event.Received = counter.received.Load(), counter.sent.Load()
	if failure := o.failure.Load(); failure != nil {
		a.event.Reason, a.event.Detail = Interrupted, (*failure).Error()
	}
	a.end()
}

// first reads the client's hello, or the first bytes of a plain request. It
// waits for a client that sends nothing.
func (t *tunnel) first() (hello.First, error) {
	first, err := hello.Read(&timely{inbound: t.client, limit: t.gateway.config.HeadTimeout})
	if err == nil && t.gateway.config.SNI == SNIAllow {
		return first, t.client.SetReadDeadline(time.Time{})
	}
	if err = t.helloError(first, err); err != nil {
		return first, err
	}
	return first, t.client.SetReadDeadline(time.Time{})
}

func (o *opened) certificate() (*tls.Certificate, error) {
	return o.gateway.config.Intercept.Authority.Certificate(o.host.String())
}

// transport returns a transport to the checked host. It uses the existing
// connection first, then new ones, which are checked in the same way.
func (o *opened) transport() *http.Transport {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		if server := o.server.Swap(nil); server != nil {
			return *server, nil
		}
		again := o.gateway.begin(o.event.Door, o.host, o.event.Port)
		return again.dial(ctx)
	}
	return &http.Transport{
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
		MaxConnsPerHost:        8,
		DialContext:            dial,
		DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			secure := tls.Client(conn, &tls.Config{ServerName: o.host.String(), RootCAs: o.gateway.config.Intercept.Roots, NextProtos: []string{"http/1.1"}})
			if err := secure.HandshakeContext(ctx); err != nil {
				conn.Close()
				return nil, err
			}
			return secure, nil
		},
	}
}

// ServeHTTP checks one request and sends it to the checked host.
func (o *opened) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i := o.gateway.config.Intercept
	if r.Method == http.MethodConnect {
		o.refuseRequest(w, refuse(DeniedRequest, errors.New("CONNECT within a connection")))
		return
	}
	if err := i.judge(o.host, o.event.Port, o.secure, r); err != nil {
		o.refuseRequest(w, err)
		return
	}
	i.inject(o.host, o.secure, r)
	scheme, standard := "http", ":80"
	if o.secure {
		scheme, standard = "https", ":443"
	}
	r.URL.Scheme, r.URL.User = scheme, nil
	r.URL.Host = strings.TrimSuffix(o.host.JoinPort(o.event.Port), standard)
	o.proxy.ServeHTTP(w, r)
}

// refuseRequest answers a request that is not forwarded, and writes its event.
func (o *opened) refuseRequest(w http.ResponseWriter, err error) {
	a := o.gateway.begin(o.event.Door, o.host, o.event.Port)
	a.event.Rule = o.event.Rule
	a.refused(err)
	tell(w, a.event)
}

func (o *opened) failed(w http.ResponseWriter, _ *http.Request, err error) {
	o.failure.Store(&err)
	failure := Event{Door: o.event.Door, Name: o.event.Name, Port: o.event.Port, Reason: Unreachable, Detail: err.Error()}
	tell(w, failure)
}
