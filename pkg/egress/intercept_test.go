package egress

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"ethos/pkg/egress/leaf"
	"ethos/pkg/egress/rule"
)

const (
	sentinel = "sentinel-0123456789"
	secret   = "the-real-secret"
)

// opening is a world that intercepts example.com, whose server is a real one.
type opening struct {
	*world
	port  uint16
	roots *x509.CertPool // that trust the authority of the gateway
	seen  chan *http.Request
}

func newOpening(t *testing.T, change func(*Intercept), more ...func(*Config)) *opening {
	t.Helper()
	seen := make(chan *http.Request, 1000)
	port, roots := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen <- r
		_, _ = fmt.Fprintf(w, "%s %s %s %s", r.Method, r.URL, r.Host, body)
	}), nil)
	o := intercepting(t, port, roots, change, more...)
	o.seen = seen
	return o
}

// serveTLS serves example.com and other.test, over HTTP/1 unless change says
// otherwise.
func serveTLS(t testing.TB, handler http.Handler, change func(*httptest.Server)) (port uint16, roots *x509.CertPool) {
	t.Helper()
	certificate, authority := authorityFor(t, "example.com", "other.test")
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	if change != nil {
		change(s)
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(authority))
	return portOf(t, s.Listener.Addr().String()), roots
}

// intercepting makes the gateway between clients and a server.
func intercepting(t testing.TB, port uint16, servers *x509.CertPool, change func(*Intercept), more ...func(*Config)) *opening {
	t.Helper()
	ours, oursPEM := signer(t)
	minter, err := leaf.New(ours)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(oursPEM))
	i := &Intercept{Authority: minter, Roots: servers}
	change(i)
	w := newWorld(t, rules(t, []string{"example.com", "other.test", loop(port)}, nil), func(c *Config) {
		c.Intercept = i
		for _, change := range more {
			change(c)
		}
	})
	w.book.any = "127.0.0.1"
	return &opening{w, port, roots, nil}
}

// client trusts the authority of the gateway, and goes through its explicit
// proxy.
func (o *opening) client() *http.Client {
	proxy := &url.URL{Scheme: "http", Host: o.proxy}
	transport := &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: o.roots}}
	o.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

func (o *opening) url(path string) string {
	return fmt.Sprintf("https://example.com:%d%s", o.port, path)
}

func mustPattern(t testing.TB, s string) rule.Pattern {
	t.Helper()
	p, err := rule.ParsePattern(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestEndpoints: only the named methods and paths reach the server, on one
// connection or on many.
func TestEndpoints(t *testing.T) {
	o := newOpening(t, func(i *Intercept) {
		i.Endpoints = []Endpoint{
			{Host: mustPattern(t, "example.com"), Methods: []string{"GET", "HEAD"}, Paths: []string{"/public/*", "/exact"}},
			{Host: mustPattern(t, "example.com"), Methods: []string{"POST"}, Paths: []string{"/submit"}},
		}
	})
	client := o.client()
	for _, c := range []struct {
		method, path string
		want         bool
	}{
		{"GET", "/public/a", true}, {"GET", "/public/", true}, {"GET", "/exact", true}, {"GET", "/exact?q=../x", true}, {"POST", "/submit", true}, {"GET", "/public/a%20b", true},
		{"GET", "/public", false}, {"GET", "/private", false}, {"POST", "/public/a", false}, {"DELETE", "/exact", false}, {"GET", "/submit", false}, {"get", "/exact", false},
		{"GET", "/public/../private", false}, {"GET", "/public/%2e%2e/private", false}, {"GET", "/public/..%2fprivate", false}, {"GET", "//exact", false}, {"GET", "/exact/", false},
		{"GET", "/public//a", false}, {"GET", "/public/./a", false}, {"GET", "/public/a;b", false}, {"GET", "/public/%252e", false}, {"GET", "/public/%5c..", false}, {"GET", "/", false}, {"GET", "/Exact", false},
	} {
		r, err := http.NewRequest(c.method, o.url(c.path), strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(r)
		if err != nil {
			t.Errorf("%s %s: %v", c.method, c.path, err)
			continue
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		got := response.StatusCode == http.StatusOK
		if got != c.want || !got && rule.Reason(response.Header.Get(ErrorHeader)) != DeniedRequest {
			t.Errorf("%s %s: %v %s", c.method, c.path, response.Status, body)
		}
		if len(o.seen) > 0 != c.want {
			t.Errorf("%s %s: the server saw %d requests", c.method, c.path, len(o.seen))
		}
		for len(o.seen) > 0 {
			<-o.seen
		}
	}
}

// TestOtherHost: a request for another host than the judged one does not leave
// an opened connection.
func TestOtherHost(t *testing.T) {
	o := newOpening(t, func(i *Intercept) { i.Endpoints = []Endpoint{{Host: mustPattern(t, "example.com")}} })
	for _, host := range []string{"other.test", "other.test:" + fmt.Sprint(o.port), "example.com:1", "example.com", "exa mple.com"} {
		conn, _ := o.connect(fmt.Sprintf("example.com:%d", o.port))
		secure := tls.Client(conn, &tls.Config{ServerName: "example.com", RootCAs: o.roots})
		_, _ = fmt.Fprintf(secure, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host)
		response, err := http.ReadResponse(bufio.NewReader(secure), nil)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode == http.StatusOK {
			t.Errorf("%s: %v", host, response)
		}
		conn.Close()
	}
	if len(o.seen) > 0 {
		t.Errorf("the server saw %d requests", len(o.seen))
	}
}

// TestInjection: the server gets the secret, in the one field of the one host,
// and the program has only the sentinel.
func TestInjection(t *testing.T) {
	o := newOpening(t, func(i *Intercept) {
		i.Injections = []Injection{{Host: mustHost(t, "example.com"), Header: "authorization", Sentinel: sentinel, Secret: secret}}
	})
	client := o.client()
	ask := func(set func(*http.Request)) *http.Request {
		t.Helper()
		r, err := http.NewRequest("GET", o.url("/"), nil)
		if err != nil {
			t.Fatal(err)
		}
		set(r)
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return <-o.seen
	}
	if r := ask(func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+sentinel) }); r.Header.Get("Authorization") != "Bearer "+secret {
		t.Errorf("%v", r.Header)
	}
	if r := ask(func(r *http.Request) { r.SetBasicAuth("me", sentinel) }); !basic(r, "me", secret) {
		t.Errorf("%v", r.Header)
	}
	if r := ask(func(r *http.Request) {
		r.Header.Set("X-Other", sentinel)
		r.Header.Set("Authorization", "Bearer other")
	}); r.Header.Get("X-Other") != sentinel || r.Header.Get("Authorization") != "Bearer other" {
		t.Errorf("%v", r.Header)
	}
	client.CloseIdleConnections()
	for _, e := range o.ledger.wait(t, 1) {
		if text := fmt.Sprintf("%+v", e); strings.Contains(text, secret) {
			t.Errorf("an event has the secret: %s", text)
		}
	}
}

func basic(r *http.Request, user, password string) bool {
	u, p, ok := r.BasicAuth()
	return ok && u == user && p == password
}

// TestNoSecretElsewhere: neither another host nor a connection without TLS
// gets the secret.
func TestNoSecretElsewhere(t *testing.T) {
	o := newOpening(t, func(i *Intercept) {
		i.Injections = []Injection{{Host: mustHost(t, "example.com"), Header: "Authorization", Sentinel: sentinel, Secret: secret}}
	})
	var got []string
	plain := server(t, func(c *net.TCPConn) {
		defer c.Close()
		got = append(got, readHead(c))
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	})
	for i, name := range []string{"example.com", "other.test"} {
		w := newWorld(t, rules(t, []string{"example.com", "other.test", loop(plain)}, nil), func(c *Config) { c.Intercept = o.config.Intercept })
		w.book.any = "127.0.0.1"
		for k := range i {
			w.Table().Assign(fmt.Sprint("unused", k)) // an address of its own
		}
		text := fmt.Sprintf("Host: %s:%d\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", name, plain, sentinel)
		for _, send := range []func() net.Conn{
			func() net.Conn {
				conn := dialTCP(t, w.transparent(name, plain))
				_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\n"+text)
				return conn
			},
			func() net.Conn {
				conn := dialTCP(t, w.proxy)
				_, _ = fmt.Fprintf(conn, "GET http://%s:%d/ HTTP/1.1\r\n%s", name, plain, text)
				return conn
			},
		} {
			conn := send()
			if head := readHead(conn); !strings.HasPrefix(head, "HTTP/1.1 200 ") {
				t.Errorf("%s: %q", name, head)
			}
			conn.Close()
		}
	}
	if len(got) != 4 || strings.Contains(fmt.Sprint(got), secret) || strings.Count(fmt.Sprint(got), sentinel) != 4 {
		t.Errorf("%q", got)
	}
}

// TestUntrustedServer: the gateway verifies the server in the client's place.
func TestUntrustedServer(t *testing.T) {
	o := newOpening(t, func(i *Intercept) {
		i.Endpoints = []Endpoint{{Host: mustPattern(t, "example.com")}}
		i.Roots = x509.NewCertPool()
	})
	response, err := o.client().Get(o.url("/"))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusBadGateway || len(o.seen) > 0 {
		t.Errorf("%v", response)
	}
}

// TestNotOpened: the TLS of every other host is left as it is.
func TestNotOpened(t *testing.T) {
	o := newOpening(t, func(i *Intercept) { i.Endpoints = []Endpoint{{Host: mustPattern(t, "example.com")}} })
	conn, _ := o.connect(fmt.Sprintf("other.test:%d", o.port))
	secure := tls.Client(conn, &tls.Config{ServerName: "other.test", RootCAs: o.config.Intercept.Roots})
	if err := secure.Handshake(); err != nil {
		t.Error(err)
	}
}

// TestOpenedIsHTTP: an intercepted host takes nothing but HTTP.
func TestOpenedIsHTTP(t *testing.T) {
	o := newOpening(t, func(i *Intercept) { i.Endpoints = []Endpoint{{Host: mustPattern(t, "example.com")}} })
	at := o.transparent("example.com", o.port)
	for _, text := range []string{"SSH-2.0-x\r\n\r\n", "\x00\x01\x02\r\n\r\n", "CONNECT other.test:443 HTTP/1.1\r\nHost: other.test:443\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"} {
		conn := dialTCP(t, at)
		got, _ := say(t, conn, text)
		if strings.HasPrefix(got, "HTTP/1.1 200") || strings.HasPrefix(got, "HTTP/1.1 2") {
			t.Errorf("%q: %q", text, got)
		}
	}
	if len(o.seen) > 0 {
		t.Errorf("the server saw %d requests", len(o.seen))
	}
}

func TestInterceptConfig(t *testing.T) {
	pair, _ := signer(t)
	authority, err := leaf.New(pair)
	if err != nil {
		t.Fatal(err)
	}
	host := mustHost(t, "example.com")
	p := mustPattern(t, "example.com")
	for name, i := range map[string]*Intercept{
		"no authority":   {},
		"no host":        {Authority: authority, Endpoints: []Endpoint{{}}},
		"relative path":  {Authority: authority, Endpoints: []Endpoint{{Host: p, Paths: []string{"a"}}}},
		"star inside":    {Authority: authority, Endpoints: []Endpoint{{Host: p, Paths: []string{"/a*b"}}}},
		"star at an end": {Authority: authority, Endpoints: []Endpoint{{Host: p, Paths: []string{"/a*"}}}},
		"dots":           {Authority: authority, Endpoints: []Endpoint{{Host: p, Paths: []string{"/a/../b"}}}},
		"short sentinel": {Authority: authority, Injections: []Injection{{Host: host, Header: "A", Sentinel: "x", Secret: "y"}}},
		"no secret":      {Authority: authority, Injections: []Injection{{Host: host, Header: "A", Sentinel: sentinel}}},
		"secret lines":   {Authority: authority, Injections: []Injection{{Host: host, Header: "A", Sentinel: sentinel, Secret: "a\r\nB: c"}}},
	} {
		if _, err := New(Config{Intercept: i}); err == nil {
			t.Errorf("%s: taken", name)
		} else if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func mustHost(t testing.TB, s string) rule.Host {
	t.Helper()
	h, err := rule.ParseHost(s)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestEndpointsPlain: without TLS the same requests are judged, at the
// transparent door and by the explicit proxy.
func TestEndpointsPlain(t *testing.T) {
	port := site(t)
	pair, _ := signer(t)
	authority, err := leaf.New(pair)
	if err != nil {
		t.Fatal(err)
	}
	i := &Intercept{Authority: authority,
		Endpoints:  []Endpoint{{Host: mustPattern(t, "example.com"), Paths: []string{"/public/*"}}},
		Injections: []Injection{{Host: mustHost(t, "example.com"), Header: "X-Key", Sentinel: sentinel, Secret: secret, Plain: true}},
	}
	w := newWorld(t, rules(t, []string{"example.com", loop(port)}, nil), func(c *Config) { c.Intercept = i })
	w.book.any = "127.0.0.1"
	at := w.transparent("example.com", port)
	for path, want := range map[string]bool{"/public/a": true, "/private": false, "/public/../private": false} {
		rest := fmt.Sprintf(" HTTP/1.1\r\nHost: example.com:%d\r\nX-Key: %s\r\nConnection: close\r\n\r\n", port, sentinel)
		for door, request := range map[string]string{at: "GET " + path + rest, w.proxy: fmt.Sprintf("GET http://example.com:%d%s", port, path) + rest} {
			conn := dialTCP(t, door)
			_, _ = io.WriteString(conn, request)
			b, _ := io.ReadAll(conn)
			if got := strings.Contains(string(b), " 200 OK"); got != want || got != strings.Contains(string(b), secret) || !got && reason(string(b)) != DeniedRequest {
				t.Errorf("%s: %s", path, b)
			}
		}
	}
	refused := 0
	for _, e := range w.ledger.wait(t, 8) {
		if e.Reason == DeniedRequest && !e.Allowed {
			refused++
		}
	}
	if refused != 4 {
		t.Errorf("%d refusals: %+v", refused, w.ledger.all())
	}
}

// TestUpgrades: no other protocol begins at a host whose requests are judged, so
// that no request is hidden in one: a WebSocket does, whose path is allowed.
func TestUpgrades(t *testing.T) {
	seen := make(chan string, 100)
	port := server(t, func(c *net.TCPConn) { // takes whatever is proposed
		defer c.Close()
		head := readHead(c)
		if head == "" {
			return
		}
		seen <- head
		_, to, _ := strings.Cut(head, "Upgrade: ")
		to, _, _ = strings.Cut(to, "\r\n")
		_, _ = fmt.Fprintf(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\nhidden", to)
	})
	pair, _ := signer(t)
	authority, err := leaf.New(pair)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, rules(t, []string{"example.com", loop(port)}, nil), func(c *Config) {
		c.Intercept = &Intercept{Authority: authority, Endpoints: []Endpoint{{Host: mustPattern(t, "example.com"), Paths: []string{"/open"}}}}
	})
	w.book.any = "127.0.0.1"
	at := w.transparent("example.com", port)
	for field, want := range map[string]bool{
		"Upgrade: websocket": true, "Upgrade: WebSocket": true, "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk": false, "Upgrade: TLS/1.3": false, "Upgrade: websocket, h2c": false, "Upgrade: h2c\r\nUpgrade: websocket": false,
		"Upgrade: websocket\r\nUpgrade: h2c": false, "upgrade:h2c": false,
	} {
		rest := fmt.Sprintf("/open HTTP/1.1\r\nHost: example.com:%d\r\nConnection: Upgrade, HTTP2-Settings\r\n%s\r\n\r\n", port, field)
		for door, request := range map[string]string{at: "GET " + rest, w.proxy: fmt.Sprintf("GET http://example.com:%d", port) + rest} {
			conn := dialTCP(t, door)
			_, _ = io.WriteString(conn, request)
			head := readHead(conn)
			if got := strings.HasPrefix(head, "HTTP/1.1 101 "); got != want || !got && reason(head) != DeniedRequest || len(seen) > 0 != want {
				t.Errorf("%q: %q, seen %d", field, head, len(seen))
			}
			conn.Close()
			for len(seen) > 0 {
				<-seen
			}
		}
	}
}

// TestTrace: a request whose answer is the request shows no credential.
func TestTrace(t *testing.T) {
	o := newOpening(t, func(i *Intercept) {
		i.Injections = []Injection{{Host: mustHost(t, "example.com"), Header: "Authorization", Sentinel: sentinel, Secret: secret}}
	})
	for method, want := range map[string]int{"TRACE": http.StatusForbidden, "TRACK": http.StatusForbidden, "GET": http.StatusOK} {
		r, err := http.NewRequest(method, o.url("/"), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", sentinel)
		response, err := o.client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s: %v", method, response.Status)
		}
	}
	if len(o.seen) != 1 {
		t.Errorf("the server saw %d requests", len(o.seen))
	}
}
