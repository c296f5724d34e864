package egress

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/http2"
)

// rawSite is a server of HTTP/1 over TLS that keeps each head as it came, and
// answers it.
func rawSite(t testing.TB) (port uint16, roots *x509.CertPool, take func() []string) {
	t.Helper()
	certificate, authority := authorityFor(t, "example.com")
	var mu sync.Mutex
	var heads []string
	port = server(t, func(c *net.TCPConn) {
		defer c.Close()
		secure := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{certificate}})
		for {
			head := readHead(secure)
			if head == "" {
				return
			}
			mu.Lock()
			heads = append(heads, head)
			mu.Unlock()
			_, _ = io.WriteString(secure, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	})
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(authority))
	return port, roots, func() []string {
		mu.Lock()
		defer mu.Unlock()
		out := heads
		heads = nil
		return out
	}
}

// TestHTTP2Attacks: requests that only HTTP/2 can carry do not get past a rule,
// nor become another request, or a second one, of HTTP/1. Each connection
// carries an allowed request before and, where it goes on, after.
func TestHTTP2Attacks(t *testing.T) {
	port, roots, take := rawSite(t)
	o := intercepting(t, port, roots, func(i *Intercept) {
		open(t)(i)
		i.Endpoints[0].Methods = nil
	})
	at := fmt.Sprintf("example.com:%d", port)
	request := func(change func(fields map[string]string), more ...string) []string {
		fields := map[string]string{":method": "GET", ":scheme": "https", ":authority": at, ":path": "/open/x"}
		if change != nil {
			change(fields)
		}
		var out []string
		for _, name := range []string{":method", ":scheme", ":authority", ":path", ":protocol"} {
			if value, ok := fields[name]; ok {
				out = append(out, name, value)
			}
		}
		return append(out, more...)
	}
	with := func(name, value string) []string {
		return request(func(fields map[string]string) { fields[name] = value })
	}
	without := func(name string) []string {
		return request(func(fields map[string]string) { delete(fields, name) })
	}
	refused := func(status, reason string) string { return status + " " + reason }
	protocol := refused("reset", "PROTOCOL_ERROR")
	for name, c := range map[string]struct {
		fields []string
		want   string
	}{
		"another path":               {with(":path", "/closed"), refused("403", "denied-request")},
		"dots":                       {with(":path", "/open/../closed"), refused("403", "denied-request")},
		"escaped dots":               {with(":path", "/open/%2e%2e/closed"), refused("403", "denied-request")},
		"another host":               {with(":authority", fmt.Sprintf("other.test:%d", port)), refused("421", "denied-host")},
		"another port":               {with(":authority", "example.com:1"), refused("421", "denied-host")},
		"no port":                    {with(":authority", "example.com"), refused("421", "denied-host")},
		"user information":           {with(":authority", "other.test@"+at), protocol},
		"a path in the authority":    {with(":authority", at+"/closed?"), refused("421", "denied-host")},
		"Host of another":            {request(nil, "host", "other.test"), refused("421", "denied-host")},
		"Host twice":                 {request(nil, "host", at, "host", "other.test"), refused("421", "denied-host")},
		"Host of another alone":      {append(without(":authority"), "host", "other.test"), refused("421", "denied-host")},
		"no host at all":             {without(":authority"), refused("421", "denied-host")},
		"CONNECT":                    {[]string{":method", "CONNECT", ":authority", "other.test:443"}, refused("403", "denied-request")},
		"CONNECT to itself":          {[]string{":method", "CONNECT", ":authority", at}, refused("403", "denied-request")},
		"extended CONNECT":           {request(func(f map[string]string) { f[":method"], f[":protocol"] = "CONNECT", "websocket" }), protocol},
		"a protocol without CONNECT": {with(":protocol", "websocket"), protocol},
		"TRACE":                      {with(":method", "TRACE"), refused("403", "denied-request")},
		"a method in words":          {with(":method", "GET /closed HTTP/1.1"), refused("400", "bad-request")},
		"a method in lines":          {with(":method", "GET /closed HTTP/1.1\r\nA:"), protocol},
		"no method":                  {without(":method"), protocol},
		"no path":                    {without(":path"), protocol},
		"an empty path":              {with(":path", ""), protocol},
		"no scheme":                  {without(":scheme"), protocol},
		"a scheme of files":          {with(":scheme", "file"), protocol},
		"a scheme in words":          {with(":scheme", "https://other.test/closed? "), protocol},
		"a path without a slash":     {with(":path", "open/x"), protocol},
		"an absolute path":           {with(":path", "https://other.test/open/x"), refused("400", "bad-request")},
		"an absolute path, its own":  {with(":path", "https://"+at+"/open/x"), refused("400", "bad-request")},
		"a scheme as path":           {with(":path", "https:/open/x"), refused("400", "bad-request")},
		"an opaque path":             {with(":path", "x:open"), refused("400", "bad-request")},
		"a path in words":            {with(":path", "/open/x HTTP/1.1"), refused("400", "bad-request")},
		"a query in words":           {with(":path", "/open/x?a HTTP/1.1"), refused("400", "bad-request")},
		"a query in lines":           {with(":path", "/open/x? HTTP/1.1\r\nHost: other.test\r\n\r\nGET /closed"), protocol},
		"a line feed in a value":     {request(nil, "x-a", "b\nHost: other.test"), protocol},
		"a return in a value":        {request(nil, "x-a", "b\rHost: other.test"), protocol},
		"a zero in a value":          {request(nil, "x-a", "b\x00"), protocol},
		"lines in a name":            {request(nil, "x-a: b\r\ntransfer-encoding", "chunked"), protocol},
		"a colon in a name":          {request(nil, "x-a:", "b"), protocol},
		"a space in a name":          {request(nil, "transfer-encoding ", "chunked"), protocol},
		"capitals in a name":         {request(nil, "Transfer-Encoding", "chunked"), protocol},
		"a pseudo-header twice":      {request(nil, ":path", "/closed"), protocol},
		"a pseudo-header late":       {append([]string{"x-a", "b"}, request(nil)...), protocol},
		"a pseudo-header of answers": {request(nil, ":status", "200"), protocol},
		"an unknown pseudo-header":   {request(nil, ":x", "b"), protocol},
		"transfer-encoding":          {request(nil, "transfer-encoding", "chunked"), refused("400", "")},
		"connection":                 {request(nil, "connection", "authorization"), refused("400", "")},
		"upgrade":                    {request(nil, "upgrade", "h2c"), refused("400", "")},
		"te":                         {request(nil, "te", "chunked"), refused("400", "")},
		"a length without body":      {request(nil, "content-length", "5"), refused("400", "bad-request")},
		"two lengths":                {request(nil, "content-length", "0", "content-length", "5"), refused("400", "bad-request")},
		"a length with a sign":       {request(nil, "content-length", "+0"), refused("400", "bad-request")},
	} {
		f := o.frames()
		o.get(f, 1, "/open/before")
		if got := f.answer(1); got.status != "200" {
			t.Fatalf("%s: the allowed twin: %+v", name, got)
		}
		f.ask(3, true, c.fields...)
		got := f.answer(3)
		text := got.status + " " + string(got.reason)
		if got.status == "" {
			text = "reset " + got.reset.String()
		}
		if text != c.want {
			t.Errorf("%s: %s (%+v), want %s", name, text, got, c.want)
		}
		o.get(f, 5, "/open/after")
		if got := f.answer(5); got.status != "200" {
			t.Errorf("%s: the allowed twin afterwards: %+v", name, got)
		}
		f.conn.Close()
		heads := take()
		if len(heads) != 2 || !strings.HasPrefix(heads[0], "GET /open/before HTTP/1.1\r\n") || !strings.HasPrefix(heads[1], "GET /open/after HTTP/1.1\r\n") {
			t.Errorf("%s: the server saw %q", name, heads)
		}
	}
}

// TestHTTP2Bodies: a body that is not as long as its Content-Length does not
// reach the server, as a body or as a request of its own.
func TestHTTP2Bodies(t *testing.T) {
	seen := make(chan string, 100)
	port, roots := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil {
			seen <- r.URL.Path + " " + string(body)
		}
	}), nil)
	o := intercepting(t, port, roots, open(t))
	const second = "GET /closed HTTP/1.1\r\nHost: example.com\r\n\r\n"
	for length, want := range map[string]string{fmt.Sprint(len(second)): "/open/x " + second, "": "/open/x " + second, "0": "/open/x ", "3": "", "1000": "", "0x2c": ""} {
		f := o.frames()
		fields := []string{":method", "POST", ":scheme", "https", ":authority", fmt.Sprintf("example.com:%d", port), ":path", "/open/x"}
		if length != "" {
			fields = append(fields, "content-length", length)
		}
		f.ask(1, false, fields...)
		_ = f.WriteData(1, true, []byte(second))
		// A request whose body is said to be empty may be answered before the body comes.
		if got := f.answer(1); (got.status == "200") != (want != "") && length != "0" {
			t.Errorf("Content-Length %q: %+v", length, got)
		}
		o.get(f, 3, "/open/after")
		if got := f.answer(3); got.status != "200" {
			t.Errorf("Content-Length %q: afterwards: %+v", length, got)
		}
		for got := ""; got != "/open/after "; got = <-seen {
			if got != "" && got != want {
				t.Errorf("Content-Length %q: the server saw %q", length, got)
			}
		}
		f.conn.Close()
	}
}

// TestCoalescing: a client that uses its connection for a second host of the
// same server is told to make one of its own, and is judged there.
func TestCoalescing(t *testing.T) {
	port, roots := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Host) }), speaks("h2"))
	o := intercepting(t, port, roots, func(i *Intercept) {
		open(t)(i)
		i.Endpoints = append(i.Endpoints, Endpoint{Host: mustPattern(t, "other.test")})
	})
	f := o.frames()
	elsewhere := fmt.Sprintf("other.test:%d", port)
	f.ask(1, true, ":method", "GET", ":scheme", "https", ":authority", elsewhere, ":path", "/")
	if got := f.answer(1); got.status != "421" || got.reason != DeniedHost {
		t.Errorf("%+v", got)
	}
	response, err := o.speaking("h2").Get("https://" + elsewhere + "/")
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(response.Body); string(body) != elsewhere {
		t.Errorf("%s", body)
	}
	response.Body.Close()
	for _, e := range o.ledger.all() {
		if e.Reason == DeniedHost && e.Name == "example.com" && !e.Allowed {
			return
		}
	}
	t.Errorf("no event: %+v", o.ledger.all())
}

// TestHTTP2WithoutTLS: HTTP/2 begins only where TLS has agreed on it: neither by
// prior knowledge, nor by an upgrade, nor inside of TLS that agreed on HTTP/1.
func TestHTTP2WithoutTLS(t *testing.T) {
	o := newOpening(t, open(t))
	var greeting strings.Builder
	f := newFrames(t, pretend{Writer: &greeting})
	_, _ = io.WriteString(&greeting, http2.ClientPreface)
	_ = f.WriteSettings()
	o.get(f, 1, "/open/x")
	plain := dialTCP(t, o.transparent("example.com", o.port))
	conn, _ := o.connect(fmt.Sprintf("example.com:%d", o.port))
	secure := tls.Client(conn, &tls.Config{ServerName: "example.com", RootCAs: o.roots, NextProtos: []string{"http/1.1"}})
	for name, conn := range map[string]net.Conn{"plain": plain, "TLS for HTTP/1": secure} {
		_, _ = io.WriteString(conn, greeting.String())
		if head := readHead(conn); !strings.HasPrefix(head, "HTTP/1.1 4") || reason(head) != DeniedHost {
			t.Errorf("%s: %q", name, head)
		}
	}
	conn, _ = o.connect(fmt.Sprintf("example.com:%d", o.port))
	secure = tls.Client(conn, &tls.Config{ServerName: "example.com", RootCAs: o.roots, NextProtos: []string{"h2"}})
	_, _ = fmt.Fprintf(secure, "GET /open/x HTTP/1.1\r\nHost: example.com:%d\r\n\r\n", o.port)
	if b, _ := io.ReadAll(secure); strings.Contains(string(b), "200 OK") {
		t.Errorf("HTTP/1 after h2 was agreed: %q", b)
	}
	if len(o.seen) > 0 {
		t.Errorf("the server saw %d requests", len(o.seen))
	}
	f = o.frames()
	o.get(f, 1, "/open/x")
	if got := f.answer(1); got.status != "200" || len(o.seen) != 1 {
		t.Errorf("the allowed twin: %+v", got)
	}
}

// pretend is a connection that only keeps what is written.
type pretend struct {
	net.Conn
	io.Writer
}

func (p pretend) Write(b []byte) (int, error) { return p.Writer.Write(b) }
