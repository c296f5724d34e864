package egress

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"
)

// frameServer handles each connection to a server whose TLS agrees on the given
// protocols, with what HTTP/2 begins with already sent.
func frameServer(t testing.TB, protocols []string, greet bool, handle func(f *frames)) (port uint16, roots *x509.CertPool) {
	t.Helper()
	certificate, authority := authorityFor(t, "example.com")
	port = server(t, func(c *net.TCPConn) {
		defer c.Close()
		secure := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: protocols})
		if secure.Handshake() != nil {
			return
		}
		f := newFrames(t, secure)
		if greet {
			if _, err := io.ReadFull(secure, make([]byte, len(http2.ClientPreface))); err != nil {
				return
			}
			_ = f.WriteSettings()
			_ = f.WriteSettingsAck()
		}
		handle(f)
	})
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(authority))
	return port, roots
}

// next reads up to the next request, and returns its stream.
func (f *frames) next() (id uint32, path string, ok bool) {
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return 0, "", false
		}
		if head, ok := frame.(*http2.MetaHeadersFrame); ok {
			return head.StreamID, head.PseudoValue("path"), true
		}
	}
}

// TestHTTP2Servers: what a server sends in place of an answer fails the one
// request, and the gateway goes on.
func TestHTTP2Servers(t *testing.T) {
	h2 := []string{"h2"}
	requested := func(then func(f *frames, id uint32)) func(f *frames) {
		return func(f *frames) {
			if id, _, ok := f.next(); ok {
				then(f, id)
				_, _ = io.Copy(io.Discard, f.conn)
			}
		}
	}
	answered := func(fields ...string) func(f *frames) {
		return requested(func(f *frames, id uint32) { f.ask(id, true, fields...) })
	}
	for name, c := range map[string]struct {
		protocols []string
		greet     bool
		handle    func(f *frames)
		want      string
	}{
		"the allowed twin": {h2, true, answered(":status", "200"), "200"},
		"agrees on HTTP/2, speaks HTTP/1": {h2, false, func(f *frames) {
			_, _ = io.WriteString(f.conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			_, _ = io.Copy(io.Discard, f.conn)
		}, "502"},
		"agrees on HTTP/1, speaks HTTP/2": {[]string{"http/1.1"}, false, func(f *frames) { _ = f.WriteSettings(); _, _ = f.conn.Read(make([]byte, 1000)) }, "502"},
		"agrees on another protocol":      {[]string{"spdy/3"}, false, func(*frames) {}, "502"},
		"ends at once":                    {h2, false, func(*frames) {}, "502"},
		"resets the stream":               {h2, true, requested(func(f *frames, id uint32) { _ = f.WriteRSTStream(id, http2.ErrCodeCancel) }), "reset"},
		"no status":                       {h2, true, answered("x", "y"), "reset"},
		"a status in words":               {h2, true, answered(":status", "200 OK\r\nX: y"), "reset"},
		"lines in a value":                {h2, true, answered(":status", "200", "x", "y\r\nSet-Cookie: z"), "reset"},
		"a pseudo-header of requests":     {h2, true, answered(":status", "200", ":path", "/"), "reset"},
		"a huge field":                    {h2, true, requested(func(f *frames, id uint32) { f.continued(id, 16) }), "502"},
		"CONTINUATION without end":        {h2, true, requested(func(f *frames, id uint32) { f.continued(id, 1<<20) }), "502"},
		"a push": {h2, true, requested(func(f *frames, id uint32) {
			_ = f.WritePushPromise(http2.PushPromiseParam{StreamID: id, PromiseID: 2, EndHeaders: true, BlockFragment: f.block(":method", "GET", ":scheme", "https", ":authority", "other.test", ":path", "/")})
		}), "502"},
		"much information": {h2, true, requested(func(f *frames, id uint32) {
			for range 5000 {
				f.ask(id, false, ":status", "103", "link", strings.Repeat("l", 100))
			}
			f.ask(id, true, ":status", "200")
		}), "200"},
		"more data than the window": {h2, true, requested(func(f *frames, id uint32) {
			f.ask(id, false, ":status", "404")
			for range 2 * serverWindow / frameSize {
				_ = f.WriteData(id, false, make([]byte, frameSize))
			}
		}), "404"}, // and then a reset
		"floods of PING and SETTINGS": {h2, true, requested(func(f *frames, id uint32) {
			go func() { _, _ = io.Copy(io.Discard, f.conn) }()
			for range 10_000 {
				_ = f.WritePing(false, [8]byte{})
				_ = f.WriteSettings()
			}
			f.ask(id, true, ":status", "200")
		}), "200"},
	} {
		port, roots := frameServer(t, c.protocols, c.greet, c.handle)
		o := intercepting(t, port, roots, open(t))
		f := o.frames()
		o.get(f, 1, "/open/x")
		got := f.answer(1)
		text := got.status
		if got.reset != 0 {
			text = "reset"
		}
		if text != c.want || text == "502" && got.reason != Unreachable {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
		o.get(f, 3, "/closed")
		if got := f.answer(3); got.status != "403" {
			t.Errorf("%s: the connection afterwards: %+v", name, got)
		}
		f.conn.Close()
	}
}

// continued answers with n frames of one head.
func (f *frames) continued(id uint32, n int) {
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: f.block(":status", "200"), EndStream: true})
	for i := range n {
		if f.WriteContinuation(id, i == n-1, f.block(fmt.Sprintf("x-%d", i), strings.Repeat("a", 10<<10))) != nil {
			return
		}
	}
}

// TestGoAway: a server that ends its connections while requests are under way
// gets those that it has not begun again, on a new connection.
func TestGoAway(t *testing.T) {
	var connections, answers atomic.Int64
	port, roots := frameServer(t, []string{"h2"}, true, func(f *frames) {
		connections.Add(1)
		for {
			id, path, ok := f.next()
			if !ok {
				return
			}
			if path == "/open/late" {
				answers.Add(1)
				f.ask(id, false, ":status", "200")
				_ = f.WriteGoAway(id, http2.ErrCodeNo, nil)
				_ = f.WriteData(id, true, []byte("late"))
				continue
			}
			if id > 1 && id%4 == 3 { // not begun
				_ = f.WriteGoAway(id-2, http2.ErrCodeNo, nil)
				return
			}
			answers.Add(1)
			f.ask(id, true, ":status", "200")
		}
	})
	o := intercepting(t, port, roots, open(t))
	client := o.speaking("h2")
	for i := range 40 {
		path := "/open/x"
		if i%10 == 9 {
			path = "/open/late"
		}
		response, err := client.Get(o.url(path))
		if err != nil {
			t.Fatal(i, err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != http.StatusOK || err != nil || path == "/open/late" && string(body) != "late" {
			t.Fatalf("%d: %v %q, %v", i, response.Status, body, err)
		}
	}
	if answers.Load() != 40 || connections.Load() < 20 {
		t.Errorf("%d answers on %d connections", answers.Load(), connections.Load())
	}
	n := int(connections.Load())
	all := o.leave(client, n)
	if clean := !slices.ContainsFunc(all, func(e Event) bool { return e.Reason != "" || !e.Allowed }); len(all) != n || !clean {
		t.Errorf("%d of %d connections: %+v", len(all), n, all)
	}
}

// TestConnectionsEnd: with the client's connection those to the server end,
// also those made later, whatever was under way in them.
func TestConnectionsEnd(t *testing.T) {
	asked, ended := make(chan string, 2), make(chan string, 2)
	port, roots := frameServer(t, []string{"h2"}, true, func(f *frames) {
		id, path, _ := f.next()
		asked <- path
		if path == "/open/first" {
			f.ask(id, false, ":status", "200")
			_ = f.WriteGoAway(id, http2.ErrCodeNo, nil)
		}
		_, _ = io.Copy(io.Discard, f.conn) // says nothing more, and keeps the connection
		ended <- path
	})
	o := intercepting(t, port, roots, open(t))
	f := o.frames()
	for i, path := range []string{"/open/first", "/open/second"} {
		o.get(f, uint32(2*i+1), path)
		if got := <-asked; got != path {
			t.Fatal(got)
		}
		if i == 0 {
			if got := f.answer(1); got.status != "200" {
				t.Fatalf("%+v", got)
			}
		}
	}
	f.conn.Close()
	if one, other := <-ended, <-ended; one == other {
		t.Error(one, other)
	}
	if all := o.ledger.wait(t, 1); all[0].Reason != "" || !all[0].Allowed {
		t.Errorf("%+v", all)
	}
}

// TestStreamsOfServer: a server that takes few requests at once answers all of
// them.
func TestStreamsOfServer(t *testing.T) {
	port, roots := serveTLS(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), func(s *httptest.Server) {
		speaks("h2")(s)
		s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 3}
	})
	o := intercepting(t, port, roots, open(t))
	client := o.speaking("h2")
	get := func() {
		response, err := client.Get(o.url("/open/x"))
		if err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("%v, %v", response, err)
		}
	}
	get() // so that the client has one connection
	var wait sync.WaitGroup
	for range 60 {
		wait.Go(get)
	}
	wait.Wait()
}
