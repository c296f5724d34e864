package upstream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestNew(t *testing.T) {
	if p, err := New(Values{NoProxy: "*"}); p != nil || err != nil {
		t.Errorf("%v, %v", p, err)
	}
	for value, ok := range map[string]bool{
		"http://proxy.corp:3128": true, "proxy.corp:3128": true, "proxy.corp": true, "https://u:p%23ss@proxy.corp": true,
		"socks5://proxy.corp": true, "socks5h://127.0.0.1:9050/": true, "http://[::1]:3128": true,
		"http://": false, "://x": false, "ftp://proxy.corp": false, "http://proxy.corp:99999": false, "http://proxy.corp:0": false,
		"http://proxy.corp:x": false, "http://u:s3cret#x@proxy.corp:1": false, "http://u:s3cret/x@proxy.corp:1": false,
		"http://proxy.corp/path": false, "http://proxy.corp?q": false, "http://proxy.corp:": false, "http://u:s3cret@": false,
		"http://pro xy": false, "http://u:s3cret%zz@proxy.corp": false, " ": false, "proxy.corp:http": false, "socks4://proxy.corp": false,
	} {
		for _, v := range []Values{{HTTPSProxy: value}, {HTTPProxy: value}} {
			p, err := New(v)
			if (err == nil) != ok || (p != nil) != ok {
				t.Errorf("%q: %v, %v", value, p, err)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%q: the error tells the password: %v", value, err)
			}
			if ok && p.Tunnel("example.com", 443) == nil && v.HTTPSProxy != "" {
				t.Errorf("%q: a direct connection", value)
			}
		}
	}
}

func TestChoice(t *testing.T) {
	p, err := New(FromEnviron([]string{"HTTPS_PROXY=http://ignored:1", "https_proxy=http://secure:1", "HTTP_PROXY=http://plain:2", "A=b",
		"NO_PROXY=direct.test,.corp,10.0.0.0/8,192.0.2.1,half.test:8443"}))
	if err != nil {
		t.Fatal(err)
	}
	host := func(u *url.URL) string {
		if u == nil {
			return ""
		}
		return u.Host
	}
	for _, c := range []struct {
		host            string
		port            uint16
		tunnel, forward string
	}{
		{"example.com", 443, "secure:1", "plain:2"}, {"example.com", 80, "secure:1", "plain:2"}, {"direct.test", 443, "", ""},
		{"a.direct.test", 443, "", ""}, {"x.corp", 443, "", ""}, {"10.1.2.3", 443, "", ""}, {"192.0.2.1", 443, "", ""}, {"192.0.2.2", 443, "secure:1", "plain:2"},
		{"localhost", 443, "", ""}, {"127.0.0.1", 443, "", ""}, {"::1", 443, "", ""}, {"2606::1", 443, "secure:1", "plain:2"},
		{"half.test", 8443, "", ""}, {"half.test", 443, "secure:1", "plain:2"},
	} {
		if a, b := host(p.Tunnel(c.host, c.port)), host(p.Forward(c.host, c.port)); a != c.tunnel || b != c.forward {
			t.Errorf("%s:%d: %s and %s", c.host, c.port, a, b)
		}
	}
	plain, err := New(Values{HTTPProxy: "plain:2"})
	if err != nil || host(plain.Tunnel("example.com", 80)) != "plain:2" || plain.Tunnel("example.com", 443) != nil {
		t.Errorf("HTTP_PROXY alone: %v", err)
	}
	var none *Proxies
	if none.Tunnel("a", 1) != nil || none.Forward("a", 1) != nil {
		t.Error("no proxies lead through one")
	}
}

// fake is a proxy that answers a CONNECT with given bytes.
func fake(t *testing.T, answer func(*http.Request) string) *url.URL {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				r, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					return
				}
				_, _ = io.WriteString(conn, answer(r))
			}()
		}
	}()
	return &url.URL{Scheme: "http", Host: listener.Addr().String()}
}

func TestConnect(t *testing.T) {
	via := fake(t, func(r *http.Request) string {
		user, password, _ := (&http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}).BasicAuth()
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n%s %s %s:%s", r.Method, r.Host, user, password)
	})
	via.User = url.UserPassword("me", "p:#ss")
	conn, err := Connect(t.Context(), &net.Dialer{}, via, "example.com:443")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if b, err := io.ReadAll(conn); err != nil || string(b) != "CONNECT example.com:443 me:p:#ss" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestHostileProxies: an answer that is none is an error, and no tunnel.
func TestHostileProxies(t *testing.T) {
	for name, answer := range map[string]string{
		"refusal": "HTTP/1.1 403 Forbidden\r\n\r\n", "credentials": "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "redirect": "HTTP/1.1 302 Found\r\nLocation: http://x/\r\n\r\n",
		"nothing": "", "garbage": "\x00\x01\r\n\r\n", "cut": "HTTP/1.1 200 OK\r\n", "endless": "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20),
		"interim": "HTTP/1.1 100 Continue\r\n\r\n", "other protocol": "SSH-2.0-x\r\n\r\n\r\n",
	} {
		via := fake(t, func(*http.Request) string { return answer })
		if conn, err := Connect(t.Context(), &net.Dialer{}, via, "example.com:443"); !errors.Is(err, ErrProxy) {
			t.Errorf("%s: %v, %v", name, conn, err)
		}
	}
	if _, err := Connect(t.Context(), &net.Dialer{}, &url.URL{Scheme: "http", Host: "127.0.0.1:1"}, "example.com:443"); !errors.Is(err, ErrProxy) {
		t.Errorf("nobody listens: %v", err)
	}
}

// TestSilentProxy: the caller's time limit ends the wait for an answer.
func TestSilentProxy(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	via := fake(t, func(*http.Request) string { <-release; return "" })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	for _, scheme := range []string{"http", "socks5"} {
		via.Scheme = scheme
		if conn, err := Connect(ctx, &net.Dialer{}, via, "example.com:443"); err == nil {
			t.Errorf("%s: %v", scheme, conn)
		}
	}
}

func FuzzReadReply(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\n\r\nbeyond"))
	f.Add([]byte("HTTP/1.0 407 No\r\nProxy-Authenticate: Basic\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		if status, err := readReply(r); err == nil {
			used := b[:len(b)-r.Len()]
			if !bytes.HasSuffix(used, []byte("\r\n\r\n")) || bytes.Index(used, []byte("\r\n\r\n")) != len(used)-4 || len(used) > maxReply {
				t.Errorf("%q: %d after %q", b, status, used)
			}
		}
	})
}
