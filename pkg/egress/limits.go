package egress

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// What a gateway holds in memory has a limit, whatever its clients and the
// servers do, because the memory is not that of the sandbox. docs/sandbox.md
// has the sum.
const (
	maxServed   = 512 // connections whose requests net/http reads
	maxHTTP2    = 32  // those of them that speak HTTP/2
	maxRequests = 512 // requests under way at opened hosts
	maxHellos   = 512 // first messages, of TLS or at port 80, longer than shortHello
	shortHello  = 4 << 10
	maxFields   = 256 // of a request or an answer: a short one takes far more memory than it has bytes
)

// places are as many as may be in use at a time.
type places chan struct{}

// take takes a place. If none is free, it waits for one, at most for limit.
func (p places) take(ctx context.Context, limit time.Duration) (leave func(), ok bool) {
	leave = func() { <-p }
	select {
	case p <- struct{}{}:
		return leave, true
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case p <- struct{}{}:
		return leave, true
	case <-ctx.Done():
		return nil, false
	}
}

// claim is a place that a handshake takes, which may outlast its connection for
// a moment if the gateway is stopped.
type claim struct {
	mu    sync.Mutex
	leave func() // nil without a place
	err   error
	over  bool
}

func (c *claim) keep(leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		leave()
		return
	}
	c.leave, c.err = leave, err
}

func (c *claim) end() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over = true; c.leave != nil {
		c.leave()
	}
	return c.err
}

// admit takes a place for a connection whose requests net/http reads, until the
// attempt has ended.
func (a *attempt) admit(ctx context.Context) error {
	leave, ok := a.gateway.served.take(ctx, a.gateway.config.DialTimeout)
	if !ok && ctx.Err() != nil {
		return ctx.Err()
	}
	if !ok {
		return refuse(Busy, fmt.Errorf("%d connections whose requests are read are open", maxServed))
	}
	a.leave = leave
	return nil
}

// request takes a place for a request at an opened host. One over HTTP/2 does
// not wait, because net/http would hold what the client sends meanwhile.
func (g *Gateway) request(r *http.Request) (leave func(), err error) {
	wait := g.config.DialTimeout
	if r.ProtoMajor == 2 {
		wait = 0
	}
	leave, ok := g.requests.take(r.Context(), wait)
	if !ok {
		return nil, refuse(Busy, fmt.Errorf("%d requests are under way", maxRequests))
	}
	return leave, nil
}

var errFields = fmt.Errorf("more than %d header fields", maxFields)

// few reports whether a head has no more fields than any honest one.
func few(h http.Header) bool {
	n := 0
	for _, values := range h {
		n += len(values)
	}
	return n <= maxFields
}

// fewAnswered refuses an answer with too many fields.
func fewAnswered(r *http.Response) error {
	if !few(r.Header) {
		return errors.New("the answer has " + errFields.Error())
	}
	return nil
}

// forget lets go of a request over HTTP/2 that has been decided: net/http holds
// it until the client has taken the answer.
func forget(r *http.Request) {
	if r.ProtoMajor == 2 {
		r.Body.Close()
		r.Header, r.URL, r.Host, r.RequestURI = nil, nil, "", ""
	}
}

// reply is the answer to a request at an opened host.
type reply struct {
	http.ResponseWriter
	wrote bool
}

func (r *reply) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *reply) Write(p []byte) (int, error) {
	r.wrote = true
	return r.ResponseWriter.Write(p)
}

// finish waits until the client has taken what was written, so that the request
// is under way until then. Nothing is flushed for an answer without a body,
// whose head has to say that it is the end (gRPC).
func (r *reply) finish() {
	if r.wrote {
		_ = http.NewResponseController(r.ResponseWriter).Flush()
	}
}
