package egress

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"ethos/pkg/egress/rule"
)

// site is an HTTP server that tells what it was asked.
func site(t testing.TB) (port uint16) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Keep-Alive", "timeout=5")
		w.Header().Set("X-Seen", "yes")
		_, _ = fmt.Fprintf(w, "%s %s host=%s body=%s", r.Method, r.URL, r.Host, body)
		for name, values := range r.Header {
			_, _ = fmt.Fprintf(w, "\n%s=%s", name, strings.Join(values, ","))
		}
	}))
	t.Cleanup(s.Close)
	return portOf(t, s.Listener.Addr().String())
}

// browser is an HTTP client that goes through the explicit proxy.
func (w *world) browser() *http.Client {
	proxy := &url.URL{Scheme: "http", Host: w.proxy}
	transport := &http.Transport{Proxy: http.ProxyURL(proxy)}
	w.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

func TestForward(t *testing.T) {
	port := site(t)
	w := newWorld(t, rules(t, []string{"example.com", loop(port)}, nil), nil)
	w.book.names["example.com"] = [][]string{{"127.0.0.1"}}
	client := w.browser()
	for i := range 3 {
		body := strings.Repeat("b", i*50_000)
		response, err := client.Post(fmt.Sprintf("http://Example.com:%d/p/%%2e?q=a;b&c", port), "text/plain", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		want := fmt.Sprintf("POST /p/%%2e?q=a;b&c host=example.com:%d body=%s", port, body)
		if err != nil || !strings.HasPrefix(string(text), want+"\n") || response.Header.Get("X-Seen") != "yes" || response.Header.Get("Keep-Alive") != "" {
			t.Errorf("%.200s, %v, %v", text, response.Header, err)
		}
		for _, hidden := range []string{"Proxy-", "X-Forwarded", "Via", "Forwarded"} {
			if strings.Contains(string(text), "\n"+hidden) {
				t.Errorf("the server saw %s: %s", hidden, text)
			}
		}
	}
	for _, e := range w.ledger.wait(t, 3) {
		if !e.Allowed || e.Door != DoorHTTP || e.Name != "example.com" || e.Port != port || e.Address != loop(port) || e.Sent == 0 || e.Received == 0 {
			t.Errorf("%+v", e)
		}
	}
	response, err := client.Get("http://evil.test/")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusForbidden || rule.Reason(response.Header.Get(ErrorHeader)) != rule.NotAllowed {
		t.Errorf("%v", response)
	}
}

// TestHopByHop: what is meant for the proxy stays with it.
func TestHopByHop(t *testing.T) {
	port := site(t)
	w := newWorld(t, rules(t, []string{loop(port)}, nil), nil)
	conn := dialTCP(t, w.proxy)
	_, _ = fmt.Fprintf(conn, "GET http://127.0.0.1:%d/ HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nProxy-Authorization: Basic c2VjcmV0\r\n"+
		"Proxy-Connection: keep-alive\r\nConnection: X-Private, close\r\nX-Private: secret\r\nTE: trailers\r\nX-Public: yes\r\n\r\n", port, port)
	b, err := io.ReadAll(conn)
	answer := string(b)
	if err != nil || !strings.Contains(answer, "X-Public=yes") {
		t.Fatalf("%s, %v", answer, err)
	}
	for _, hidden := range []string{"c2VjcmV0", "X-Private", "secret", "Proxy-"} {
		if strings.Contains(answer, hidden) {
			t.Errorf("the server saw %s: %s", hidden, answer)
		}
	}
}

// TestForwardRefuses: doubtful requests are not forwarded at all.
func TestForwardRefuses(t *testing.T) {
	dialled := &dials{}
	w := newWorld(t, rules(t, []string{"example.com", "a.test"}, nil), func(c *Config) { c.Dialer = dialled })
	w.book.any = "93.184.216.34"
	for _, text := range []string{
		"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"GET http://example.com/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
		"GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\nHost: a.test\r\n\r\n",
		"GET http://user@example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"GET http://example.com@evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n",
		"GET https://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"GET http://example.com/ HTTP/1.1\nHost: example.com\n\n",
		"GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\nX: a\r\n b\r\n\r\n",
		"POST http://example.com/ HTTP/1.1\r\nHost: example.com\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\nA: " + strings.Repeat("a", 9000) + "\r\n\r\n",
		"GET http://exa%6dple.com/ HTTP/1.1\r\nHost: exa%6dple.com\r\n\r\n",
	} {
		answer, _ := say(t, dialTCP(t, w.proxy), text)
		if !strings.HasPrefix(answer, "HTTP/1.1 400 ") || reason(answer) != BadRequest {
			t.Errorf("%.100q: %q", text, answer)
		}
	}
	if all := dialled.all(); len(all) > 0 {
		t.Errorf("dialled %v", all)
	}
}

// TestNoSecondRequest: what follows a request on its connection reaches no
// server: neither a pipelined request nor what hides behind a body.
func TestNoSecondRequest(t *testing.T) {
	port := site(t)
	dialled := &dials{to: loop(port)}
	w := newWorld(t, rules(t, []string{"example.com", "a.test"}, nil), func(c *Config) { c.Dialer = dialled })
	w.book.any = "93.184.216.34"
	second := "GET http://a.test/second HTTP/1.1\r\nHost: a.test\r\n\r\n"
	for _, text := range []string{
		"GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n" + second,
		"POST http://example.com/ HTTP/1.1\r\nHost: example.com\r\nContent-Length: 3\r\n\r\nabc" + second,
		"POST http://example.com/ HTTP/1.1\r\nHost: example.com\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + second,
	} {
		conn := dialTCP(t, w.proxy)
		_, _ = io.WriteString(conn, text)
		b, _ := io.ReadAll(conn)
		answer := string(b)
		if strings.Count(answer, "HTTP/1.1 ") != 1 || strings.Contains(answer, "second") || !strings.Contains(answer, " 200 OK") {
			t.Errorf("%.100q: %q", text, answer)
		}
	}
	for _, address := range dialled.all() {
		if address != "93.184.216.34:80" {
			t.Errorf("dialled %s", address)
		}
	}
	if n := len(dialled.all()); n != 3 {
		t.Errorf("dialled %d times", n)
	}
}

// TestUpgrade: an upgraded connection carries bytes both ways.
func TestUpgrade(t *testing.T) {
	port := server(t, func(c *net.TCPConn) {
		defer c.Close()
		r := bufio.NewReader(c)
		if request, err := http.ReadRequest(r); err != nil || request.Header.Get("Upgrade") != "websocket" {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		line, _ := r.ReadString('\n')
		_, _ = io.WriteString(c, "got "+line)
	})
	w := newWorld(t, rules(t, []string{loop(port)}, nil), nil)
	conn := dialTCP(t, w.proxy)
	_, _ = fmt.Fprintf(conn, "GET http://%s/ HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", loop(port), loop(port))
	if head := readHead(conn); !strings.HasPrefix(head, "HTTP/1.1 101 ") {
		t.Fatalf("%q", head)
	}
	_, _ = io.WriteString(conn, "frame\n")
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || line != "got frame\n" {
		t.Errorf("%q, %v", line, err)
	}
}

// TestHostileServers: answers that are none end as an error of the gateway,
// and take no memory.
func TestHostileServers(t *testing.T) {
	for name, answer := range map[string]string{
		"garbage":        "\x00\x01\x02garbage\r\n\r\n",
		"nothing":        "",
		"cut head":       "HTTP/1.1 200 OK\r\nX: ",
		"huge head":      "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n",
		"two lengths":    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
		"bad chunk":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"endless 1xx":    strings.Repeat("HTTP/1.1 103 Early Hints\r\nX: "+strings.Repeat("x", 1000)+"\r\n\r\n", 1000),
		"unasked switch": "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nsecret",
	} {
		t.Run(name, func(t *testing.T) {
			port := server(t, func(c *net.TCPConn) {
				defer c.Close()
				_, _ = http.ReadRequest(bufio.NewReader(c))
				_, _ = io.WriteString(c, answer)
			})
			w := newWorld(t, rules(t, []string{loop(port)}, nil), nil)
			conn := dialTCP(t, w.proxy)
			_, _ = fmt.Fprintf(conn, "GET http://%s/ HTTP/1.1\r\nHost: %s\r\n\r\n", loop(port), loop(port))
			b, _ := io.ReadAll(conn)
			got := string(b)
			if len(got) > 2<<20 || strings.Contains(got, "secret") {
				t.Errorf("%d bytes: %.200q", len(got), got)
			}
			w.ledger.wait(t, 1)
		})
	}
}

// TestSlowHeads: a client that does not finish its head is hung up on.
func TestSlowHeads(t *testing.T) {
	w := newWorld(t, rules(t, []string{"*"}, nil), func(c *Config) { c.HeadTimeout = 50 * time.Millisecond })
	for _, text := range []string{"", "G", "GET http://example.com/ HTTP/1.1\r\nHost: exam", "CONNECT a", "\x05", "\x05\x01\x00\x05\x01\x00\x03\x0bexam"} {
		conn := dialTCP(t, w.proxy)
		_, _ = io.WriteString(conn, text)
		if _, err := io.ReadAll(conn); isTimeout(err) {
			t.Errorf("%q: still open", text)
		}
	}
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error)
	return ok && timeout.Timeout()
}
