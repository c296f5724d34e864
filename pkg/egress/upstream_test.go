package egress

import (
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"ethos/pkg/egress/upstream"
)

// corporate is a proxy of its own, which wants a password; it is a gateway
// itself, behind a door that looks at the field.
func corporate(t *testing.T, to uint16) (address string, w *world) {
	t.Helper()
	w = newWorld(t, rules(t, []string{"example.com", "plain.test", loop(to)}, nil), nil)
	w.book.any = "127.0.0.1"
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("me:secret"))
	port := server(t, func(c *net.TCPConn) {
		defer c.Close()
		head := readHead(c)
		if !strings.Contains(head, "Proxy-Authorization: "+want) {
			_, _ = io.WriteString(c, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
			return
		}
		inner := dialTCP(t, w.proxy)
		_, _ = io.WriteString(inner, head)
		go func() { _, _ = io.Copy(inner, c); _ = inner.CloseWrite() }()
		_, _ = io.Copy(c, inner)
		_ = c.CloseWrite()
	})
	return loop(port), w
}

// TestUpstream: every door goes through the caller's proxy, with its
// credentials, and the proxy resolves the name.
func TestUpstream(t *testing.T) {
	port := site(t)
	at, corp := corporate(t, port)
	proxies, err := upstream.New(upstream.Values{HTTPSProxy: "http://me:secret@" + at, HTTPProxy: "http://me:secret@" + at})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, rules(t, []string{"example.com", "plain.test"}, nil), func(c *Config) { c.Upstream = proxies })
	conn, head := w.connect(fmt.Sprintf("example.com:%d", port))
	if !strings.HasPrefix(head, "HTTP/1.1 200 ") {
		t.Fatalf("%s", head)
	}
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n")
	if b, err := io.ReadAll(conn); err != nil || !strings.Contains(string(b), "host=example.com") {
		t.Errorf("%s, %v", b, err)
	}
	conn.Close()
	response, err := w.browser().Get(fmt.Sprintf("http://plain.test:%d/x", port))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if b, _ := io.ReadAll(response.Body); response.StatusCode != http.StatusOK || !strings.HasPrefix(string(b), fmt.Sprintf("GET /x host=plain.test:%d", port)) || strings.Contains(string(b), "Proxy-") {
		t.Errorf("%v %s", response, b)
	}
	conn = dialTCP(t, w.transparent("example.com", port))
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n")
	if b, err := io.ReadAll(conn); err != nil || !strings.Contains(string(b), "host=example.com") {
		t.Errorf("%s, %v", b, err)
	}
	conn.Close()
	if len(w.book.asked) > 0 {
		t.Errorf("names were resolved here: %v", w.book.asked)
	}
	for _, e := range w.ledger.wait(t, 3) {
		if e.Via != "http://"+at || !e.Allowed || e.Address != "" || strings.Contains(fmt.Sprint(e), "secret") {
			t.Errorf("%+v", e)
		}
	}
	corp.ledger.wait(t, 3)
}

// TestUpstreamRefuses: rules come before the proxy, and a proxy that refuses is
// no reason for a direct connection.
func TestUpstreamRefuses(t *testing.T) {
	port := site(t)
	at, corp := corporate(t, port)
	proxies, err := upstream.New(upstream.Values{HTTPSProxy: "http://me:wrong@" + at, HTTPProxy: "http://me:wrong@" + at})
	if err != nil {
		t.Fatal(err)
	}
	dialled := &dials{to: at}
	w := newWorld(t, rules(t, []string{"example.com"}, nil), func(c *Config) { c.Upstream, c.Dialer = proxies, dialled })
	if _, head := w.connect("evil.test:443"); !strings.HasPrefix(head, "HTTP/1.1 403 ") || len(dialled.all()) > 0 {
		t.Errorf("%s, dialled %v", head, dialled.all())
	}
	if _, head := w.connect("example.com:443"); reason(head) != UpstreamError {
		t.Errorf("%s", head)
	}
	for _, address := range dialled.all() {
		if address != at {
			t.Errorf("dialled %s", address)
		}
	}
	if e := w.ledger.wait(t, 2)[1]; e.Allowed || e.Reason != UpstreamError || !strings.Contains(e.Detail, "407") {
		t.Errorf("%+v", e)
	}
	if all := corp.ledger.all(); len(all) > 0 {
		t.Errorf("%+v", all)
	}
}

// TestUpstreamSOCKS: the explicit proxy of another gateway, as SOCKS5.
func TestUpstreamSOCKS(t *testing.T) {
	port := server(t, echo)
	corp := newWorld(t, rules(t, []string{"example.com", loop(port)}, nil), nil)
	corp.book.any = "127.0.0.1"
	for _, scheme := range []string{"socks5", "socks5h"} {
		proxies, err := upstream.New(upstream.Values{HTTPSProxy: scheme + "://" + corp.proxy})
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, rules(t, []string{"example.com", "evil.test"}, nil), func(c *Config) { c.Upstream = proxies })
		conn, head := w.connect(fmt.Sprintf("example.com:%d", port))
		if got, err := say(t, conn, "x"); err != nil || got != "hello x" {
			t.Errorf("%s: %q, %v, %s", scheme, got, err, head)
		}
		if _, head := w.connect("evil.test:443"); reason(head) != UpstreamError {
			t.Errorf("%s: %s", scheme, head)
		}
	}
}

// TestTraceUpstream: a proxy that echoes a request shows no password of the
// user. A proxy without a password has none to show.
func TestTraceUpstream(t *testing.T) {
	at := loop(server(t, func(c *net.TCPConn) {
		defer c.Close()
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"+readHead(c))
	}))
	for user, allowed := range map[string]map[string]bool{
		"me:secret@": {"TRACE": false, "TRACK": false, "trace": false, "GET": true},
		"":           {"TRACE": true, "GET": true},
	} {
		proxies, err := upstream.New(upstream.Values{HTTPProxy: "http://" + user + at})
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, rules(t, []string{"plain.test"}, nil), func(c *Config) { c.Upstream = proxies })
		for method, want := range allowed {
			conn := dialTCP(t, w.proxy)
			_, _ = io.WriteString(conn, method+" http://plain.test/ HTTP/1.1\r\nHost: plain.test\r\nMax-Forwards: 0\r\n\r\n")
			answer, _ := io.ReadAll(conn)
			conn.Close()
			head := string(answer)
			if got := strings.HasPrefix(head, "HTTP/1.1 200 "); got != want || !got && reason(head) != DeniedRequest || method != "GET" && strings.Contains(head, "Proxy-Authorization") {
				t.Errorf("%s through %q: %s", method, user, head)
			}
		}
	}
}
