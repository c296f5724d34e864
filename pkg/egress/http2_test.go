package egress

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"ethos/pkg/egress/rule"
)

// speaks gives a server its protocols.
func speaks(protocols string) func(*httptest.Server) {
	return func(s *httptest.Server) {
		s.EnableHTTP2 = strings.Contains(protocols, "h2")
		s.TLS.NextProtos = strings.Split(protocols, " ")
	}
}

// speaking is a client of the explicit proxy that speaks these protocols.
func (o *opening) speaking(protocols string) *http.Client {
	transport := &http.Transport{
		Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: o.proxy}), TLSClientConfig: &tls.Config{RootCAs: o.roots}, Protocols: new(http.Protocols),
		HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: 64 << 10, MaxReceiveBufferPerConnection: 64 << 10},
	}
	transport.Protocols.SetHTTP1(strings.Contains(protocols, "http/1.1"))
	transport.Protocols.SetHTTP2(strings.Contains(protocols, "h2"))
	o.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// leave ends the connections of a client as soon as nothing is under way in
// them, and returns the events once there are n.
func (o *opening) leave(client *http.Client, n int) []Event {
	o.t.Helper()
	until(o.t, "all events", func() bool {
		client.CloseIdleConnections()
		return len(o.ledger.all()) >= n
	})
	return o.ledger.all()
}

// open allows what the tests of HTTP/2 ask for.
func open(t testing.TB) func(*Intercept) {
	return func(i *Intercept) {
		i.Endpoints = []Endpoint{{Host: mustPattern(t, "example.com"), Methods: []string{"GET", "POST"}, Paths: []string{"/open/*"}}}
		i.Injections = []Injection{{Host: mustHost(t, "example.com"), Header: "Authorization", Sentinel: sentinel, Secret: secret}}
	}
}

// TestProtocols: each side has the protocol that it can have, and in each
// combination every request is judged, and has its credential.
func TestProtocols(t *testing.T) {
	for _, c := range []struct{ client, server, met, seen string }{
		{"h2", "h2", "HTTP/2.0", "HTTP/2.0"}, {"h2", "http/1.1", "HTTP/2.0", "HTTP/1.1"}, {"http/1.1", "h2", "HTTP/1.1", "HTTP/2.0"},
		{"h2 http/1.1", "h2 http/1.1", "HTTP/2.0", "HTTP/2.0"}, {"http/1.1", "http/1.1", "HTTP/1.1", "HTTP/1.1"},
	} {
		t.Run(c.client+" to "+c.server, func(t *testing.T) {
			port, roots := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				_, _ = fmt.Fprintf(w, "%s %s %s %s authorized %v", r.Proto, r.Host, r.URL, body, r.Header.Get("Authorization") == "Bearer "+secret)
			}), speaks(c.server))
			o := intercepting(t, port, roots, open(t))
			client := o.speaking(c.client)
			for _, path := range []string{"/open/a?q=1;2", "/closed", "/open/../closed", "/open/b"} {
				r, err := http.NewRequest("POST", o.url("/"), strings.NewReader("body"))
				if err != nil {
					t.Fatal(err)
				}
				r.URL.Opaque = path // as it is
				r.Header.Set("Authorization", "Bearer "+sentinel)
				response, err := client.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(response.Body)
				response.Body.Close()
				want := fmt.Sprintf("%s example.com:%d %s body authorized true", c.seen, port, path)
				if refused := !strings.HasPrefix(path, "/open/") || strings.Contains(path, ".."); refused {
					want = `{"error":"denied-request",`
					if response.StatusCode != http.StatusForbidden || rule.Reason(response.Header.Get(ErrorHeader)) != DeniedRequest {
						t.Errorf("%s: %v", path, response)
					}
				}
				if response.Proto != c.met || !strings.HasPrefix(string(body), want) {
					t.Errorf("%s: %s %s %s", path, response.Proto, response.Status, body)
				}
			}
			refused, carried := 0, 0
			for _, e := range o.leave(client, 3) {
				switch {
				case !e.Allowed && e.Reason == DeniedRequest:
					refused++
				case e.Allowed && e.Reason == "" && e.Sent > 0 && e.Received > 0:
					carried++
				}
			}
			if refused != 2 || carried != 1 {
				t.Errorf("%+v", o.ledger.all())
			}
		})
	}
}

// TestStreams: messages go back and forth in a stream that stays open, with
// fields after the body both ways, beside other streams of its connection.
func TestStreams(t *testing.T) {
	port, roots := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "Grpc-Status")
		_ = http.NewResponseController(w).Flush()
		buffer := make([]byte, 100)
		for {
			n, err := r.Body.Read(buffer)
			_, _ = w.Write(buffer[:n])
			_ = http.NewResponseController(w).Flush()
			if err != nil {
				break
			}
		}
		w.Header().Set("Grpc-Status", "0 "+r.Trailer.Get("Checksum"))
		w.Header().Set(http.TrailerPrefix+"Unannounced", r.Header.Get("Te"))
	}), speaks("h2"))
	o := intercepting(t, port, roots, open(t))
	client := o.speaking("h2")
	type stream struct {
		to   *io.PipeWriter
		from *http.Response
		r    *http.Request
	}
	var streams []stream
	for range 50 {
		from, to := io.Pipe()
		r, err := http.NewRequest("POST", o.url("/open/stream"), from)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Te", "trailers")
		r.Trailer = http.Header{"Checksum": nil}
		response, err := client.Do(r) // the server answers before it reads
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, stream{to, response, r})
	}
	for round := range 3 {
		for i, s := range streams {
			text := fmt.Sprintf("message %d of %d", round, i)
			_, _ = io.WriteString(s.to, text)
			got := make([]byte, len(text))
			if _, err := io.ReadFull(s.from.Body, got); err != nil || string(got) != text {
				t.Fatalf("%q, %v", got, err)
			}
		}
	}
	for _, s := range streams {
		s.r.Trailer.Set("Checksum", "abc")
		s.to.Close()
		if rest, err := io.ReadAll(s.from.Body); err != nil || len(rest) > 0 || s.from.Trailer.Get("Grpc-Status") != "0 abc" || s.from.Trailer.Get("Unannounced") != "trailers" {
			t.Fatalf("%q, %v, %v", rest, err, s.from.Trailer)
		}
		s.from.Body.Close()
	}
	if all := o.leave(client, 1); len(all) != 1 || all[0].Reason != "" {
		t.Errorf("%+v", all)
	}
}

// TestResets: a stream that one side resets is reset for the other side, and
// its connection carries further streams.
func TestResets(t *testing.T) {
	gone := make(chan error, 1)
	port, roots := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/open/early":
			panic(http.ErrAbortHandler)
		case "/open/late":
			_, _ = io.WriteString(w, "begun")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		case "/open/quiet":
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			gone <- r.Context().Err()
		}
	}), speaks("h2"))
	o := intercepting(t, port, roots, open(t))
	client := o.speaking("h2")
	if response, err := client.Get(o.url("/open/early")); err == nil || !strings.Contains(err.Error(), "INTERNAL_ERROR") {
		t.Errorf("early: %v, %v", response, err)
	}
	response, err := client.Get(o.url("/open/late"))
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(response.Body); string(body) != "begun" || err == nil || !strings.Contains(err.Error(), "INTERNAL_ERROR") {
		t.Errorf("late: %q, %v", body, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", o.url("/open/quiet"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(r); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-gone
	if response, err := client.Get(o.url("/open/x")); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("afterwards: %v, %v", response, err)
	}
	if all := o.leave(client, 1); len(all) != 1 || all[0].Reason != Interrupted || !strings.Contains(all[0].Detail, "INTERNAL_ERROR") {
		t.Errorf("%+v", all)
	}
}

// TestWebSocketBesideHTTP2: a WebSocket over HTTP/1 begins at a server that
// would rather speak HTTP/2.
func TestWebSocketBesideHTTP2(t *testing.T) {
	port, roots := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			_, _ = io.WriteString(w, r.Proto)
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		_, _ = io.Copy(conn, conn)
	}), speaks("h2 http/1.1"))
	o := intercepting(t, port, roots, open(t))
	conn, _ := o.connect(fmt.Sprintf("example.com:%d", port))
	secure := tls.Client(conn, &tls.Config{ServerName: "example.com", RootCAs: o.roots, NextProtos: []string{"http/1.1"}})
	for _, want := range []string{"HTTP/2.0", "echoed"} {
		_, _ = fmt.Fprintf(secure, "GET /open/x HTTP/1.1\r\nHost: example.com:%d\r\n", port)
		if want == "echoed" {
			_, _ = io.WriteString(secure, "Connection: Upgrade\r\nUpgrade: websocket\r\n")
		}
		_, _ = io.WriteString(secure, "\r\n")
		head := readHead(secure)
		if want == "echoed" {
			if !strings.HasPrefix(head, "HTTP/1.1 101 ") {
				t.Errorf("%q", head)
			}
			_, _ = io.WriteString(secure, want)
		}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(secure, got); err != nil || string(got) != want {
			t.Errorf("%q, %v", got, err)
		}
	}
}
