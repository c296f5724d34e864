package egress

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// The limits of HTTP/2 at an intercepted host. What one stream holds in memory
// is at most what its two windows admit, whoever stops reading; windows of
// whole connections do not limit it, because then a stalled stream would stall
// the others.
const (
	clientStreams = 100       // of one client; RFC 9113, section 6.5.2, wants no fewer
	clientWindow  = 64 << 10  // what a client may send before it reads our SETTINGS: RFC 9113, section 6.9.2
	serverWindow  = 512 << 10 // servers are far away
	frameSize     = 16 << 10
)

func towardsClients() *http.HTTP2Config {
	return &http.HTTP2Config{MaxConcurrentStreams: clientStreams, MaxReadFrameSize: frameSize,
		MaxReceiveBufferPerStream: clientWindow, MaxReceiveBufferPerConnection: 4<<20 - 1} // the largest that is valid
}

// towardsServers leaves StrictMaxConcurrentRequests off: with it, net/http of Go
// 1.26 may leave requests waiting for ever, because RoundTrip gives a
// reservation back without waking them. So a server that takes fewer streams at
// once than its client has gets further connections.
func towardsServers() *http.HTTP2Config {
	return &http.HTTP2Config{MaxReadFrameSize: frameSize, MaxReceiveBufferPerStream: serverWindow}
}

// wellFormed refuses a target such as "x:https://other.test/": net/http would
// send what follows its scheme as the target, and a server believes a host there
// instead of Host (RFC 9112, section 3.2.2). It also refuses what HTTP/2 can
// carry and HTTP/1 cannot, so that a server behind the gateway would read it in
// another way: a method or a target that has the words of a request line, a
// target that is no path (RFC 9113, section 8.3.1), and a length that is not the
// body's (section 8.1.1).
func wellFormed(r *http.Request) error {
	if !few(r.Header) {
		return refuse(BadRequest, errFields)
	}
	if r.URL.Opaque != "" {
		return refuse(BadRequest, fmt.Errorf("the target %.300q is neither a path nor a URL with a host; write /path", r.RequestURI))
	}
	if r.ProtoMajor != 2 {
		return nil
	}
	inWords := func(c rune) bool { return c <= ' ' || c == 0x7f }
	if !strings.HasPrefix(r.RequestURI, "/") && r.RequestURI != "*" || strings.ContainsFunc(r.Method+r.RequestURI, inWords) {
		return refuse(BadRequest, fmt.Errorf("%.100q %.300q is not a method and a path", r.Method, r.RequestURI))
	}
	lengths := r.Header["Content-Length"]
	if len(lengths) > 1 || len(lengths) == 1 && lengths[0] != strconv.FormatInt(r.ContentLength, 10) {
		return refuse(BadRequest, fmt.Errorf("the Content-Length %.100q is not the length of the body", lengths))
	}
	return nil
}

// greeting returns the protocols for a TLS client. One for whose HTTP/2 there is
// no place gets HTTP/1, or waits if it speaks nothing else.
func (o *opened) greeting(client *tls.ClientHelloInfo) (*tls.Config, error) {
	const http1 = "http/1.1"
	c := &tls.Config{GetCertificate: o.certificate, NextProtos: []string{http1}}
	if !slices.Contains(client.SupportedProtos, http2Name) {
		return c, nil
	}
	wait := o.gateway.config.HeadTimeout / 2 // of the time for the handshake
	if slices.Contains(client.SupportedProtos, http1) {
		wait = 0
	}
	if leave, ok := o.gateway.http2.take(client.Context(), wait); ok {
		o.http2.keep(leave, nil)
		c.NextProtos = []string{http2Name, http1}
	} else if wait > 0 {
		err := refuse(Busy, fmt.Errorf("%d connections of HTTP/2 are open, and the client offers no HTTP/1", maxHTTP2))
		o.http2.keep(func() {}, err)
		return nil, err
	}
	return c, nil
}

const http2Name = "h2" // RFC 9113, section 3.2

// resetStream is the error of net/http for a stream that the server has reset;
// it converts itself to any structure with these fields.
type resetStream struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (r resetStream) Error() string { return fmt.Sprintf("stream %d: code %d", r.StreamID, r.Code) }

// passReset resets the client's stream if the server has reset its own.
func passReset(r *http.Request, err error) {
	if reset := (resetStream{}); r.ProtoMajor == 2 && errors.As(err, &reset) {
		panic(http.ErrAbortHandler) // net/http: "abort the response to the client"
	}
}
