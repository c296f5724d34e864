package egress

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"ethos/pkg/egress/rule"
)

// secure is a TLS server that tells the name it was asked for.
func secure(t testing.TB, config *tls.Config) (port uint16) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"example.com"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if config == nil {
		config = &tls.Config{}
	}
	config.Certificates = []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}
	return server(t, func(c *net.TCPConn) {
		defer c.Close()
		s := tls.Server(c, config)
		if s.Handshake() == nil {
			_, _ = io.WriteString(s, "server "+s.ConnectionState().ServerName)
			_ = s.CloseWrite()
		}
	})
}

// tlsOver makes a TLS connection over an open one.
func tlsOver(conn net.Conn, name string, config *tls.Config) (string, error) {
	if config == nil {
		config = &tls.Config{}
	}
	config.ServerName, config.InsecureSkipVerify = name, true
	client := tls.Client(conn, config)
	if err := client.Handshake(); err != nil {
		return "", err
	}
	b, err := io.ReadAll(client)
	return string(b), err
}

func TestServerName(t *testing.T) {
	port := secure(t, nil)
	for name, c := range map[string]struct {
		host, sni string
		mode      SNIMode
		allow     []string
		want      rule.Reason
	}{
		"equal":               {"example.com", "example.com", SNIRequire, []string{"example.com"}, ""},
		"case":                {"EXAMPLE.com.", "eXample.Com", SNIRequire, []string{"example.com"}, ""},
		"another":             {"example.com", "evil.test", SNIRequire, []string{"example.com"}, DeniedSNI},
		"another allowed one": {"example.com", "other.test", SNIRequire, []string{"example.com", "other.test"}, DeniedSNI},
		"below":               {"example.com", "www.example.com", SNIRequire, []string{"example.com"}, DeniedSNI},
		"none":                {"example.com", "", SNIRequire, []string{"example.com"}, DeniedSNI},
		"no host":             {"example.com", "exa mple.com", SNIRequire, []string{"example.com"}, DeniedSNI},
		"mode allow":          {"example.com", "evil.test", SNIAllow, []string{"example.com"}, ""},
		"mode allow, none":    {"example.com", "", SNIAllow, []string{"example.com"}, ""},
		"address, none":       {"127.0.0.1", "", SNIRequire, nil, ""},
		"address, listed":     {"127.0.0.1", "example.com", SNIRequire, []string{"example.com"}, ""},
		"address, not listed": {"127.0.0.1", "evil.test", SNIRequire, []string{"example.com"}, DeniedSNI},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, rules(t, append(c.allow, loop(port)), nil), func(config *Config) { config.SNI = c.mode })
			w.book.any = "127.0.0.1"
			conn, head := w.connect(fmt.Sprintf("%s:%d", c.host, port))
			got, err := tlsOver(conn, c.sni, nil)
			if c.want == "" && (err != nil || got[:6] != "server") || c.want != "" && err == nil {
				t.Errorf("%q, %v, %s", got, err, head)
			}
			conn.Close()
			if e := w.ledger.wait(t, 1)[0]; e.Reason != c.want && c.want != "" || e.Allowed != (c.want == "") {
				t.Errorf("%+v", e)
			}
		})
	}
}

// TestServerNameTransparent: the same at the transparent door.
func TestServerNameTransparent(t *testing.T) {
	port := secure(t, nil)
	w := newWorld(t, rules(t, []string{"example.com", loop(port)}, nil), nil)
	w.book.any = "127.0.0.1"
	at := w.transparent("example.com", port)
	if got, err := tlsOver(dialTCP(t, at), "example.com", nil); err != nil || got != "server example.com" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := tlsOver(dialTCP(t, at), "evil.test", nil); err == nil {
		t.Errorf("%q", got)
	}
}

// TestSecondHello: a server that asks for another hello gets one for the same
// name only. The server of crypto/tls asks where it does not share the curve.
func TestSecondHello(t *testing.T) {
	port := secure(t, &tls.Config{CurvePreferences: []tls.CurveID{tls.CurveP384}})
	w := newWorld(t, rules(t, []string{"example.com", loop(port)}, nil), nil)
	w.book.any = "127.0.0.1"
	curves := []tls.CurveID{tls.CurveP256, tls.CurveP384}
	at := w.transparent("example.com", port)
	honest := dialTCP(t, at)
	if got, err := tlsOver(honest, "example.com", &tls.Config{CurvePreferences: curves}); err != nil || got != "server example.com" {
		t.Fatalf("%q, %v", got, err)
	}
	honest.Close()
	w.ledger.wait(t, 1)
	if got, err := tlsOver(&renaming{TCPConn: dialTCP(t, at)}, "example.com", &tls.Config{CurvePreferences: curves}); err == nil {
		t.Errorf("%q", got)
	}
	if e := w.ledger.wait(t, 2)[1]; e.Reason != DeniedSNI || e.Allowed {
		t.Errorf("%+v", e)
	}
}

// renaming writes another name into every hello but the first.
type renaming struct {
	*net.TCPConn
	hellos int
}

func (r *renaming) Write(p []byte) (int, error) {
	if at := bytes.Index(p, []byte("example.com")); at >= 0 {
		if r.hellos++; r.hellos > 1 {
			p = bytes.Replace(p, []byte("example.com"), []byte("example.net"), 1)
		}
	}
	return r.TCPConn.Write(p)
}

// TestNothingBeforeTheAnswer: what a client sends behind its hello reaches the
// server only when the server has answered, so that a second hello cannot be
// slipped in unread.
func TestNothingBeforeTheAnswer(t *testing.T) {
	var mu sync.Mutex
	var seen []byte
	got := make(chan struct{}, 10)
	answer := make(chan []byte)
	port := server(t, func(c *net.TCPConn) {
		go func() {
			if b, ok := <-answer; ok {
				_, _ = c.Write(b)
			}
		}()
		buffer := make([]byte, 1<<16)
		for {
			n, err := c.Read(buffer)
			mu.Lock()
			seen = append(seen, buffer[:n]...)
			mu.Unlock()
			got <- struct{}{}
			if err != nil {
				c.Close()
				return
			}
		}
	})
	w := newWorld(t, rules(t, []string{"example.com", loop(port)}, nil), nil)
	w.book.any = "127.0.0.1"
	conn := dialTCP(t, w.transparent("example.com", port))
	hello := captureHello(t, "example.com")
	if _, err := conn.Write(append(bytes.Clone(hello), "behind"...)); err != nil {
		t.Fatal(err)
	}
	for {
		<-got
		mu.Lock()
		n := len(seen)
		mu.Unlock()
		if n >= len(hello) {
			break
		}
	}
	mu.Lock()
	if !bytes.Equal(seen, hello) {
		t.Errorf("the server saw %d bytes, the hello has %d", len(seen), len(hello))
	}
	mu.Unlock()
	answer <- []byte("\x15\x03\x03\x00\x02\x02\x28") // an alert: no retry
	for {
		<-got
		mu.Lock()
		done := bytes.HasSuffix(seen, []byte("behind"))
		mu.Unlock()
		if done {
			break
		}
	}
}

// captureHello is the first message of a TLS client.
func captureHello(t testing.TB, name string) []byte {
	t.Helper()
	listener := listen(t, "127.0.0.1:0")
	go func() {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			return
		}
		_, _ = tlsOver(conn, name, nil)
	}()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	head := make([]byte, 5)
	if _, err := io.ReadFull(conn, head); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, int(head[3])<<8|int(head[4]))
	if _, err := io.ReadFull(conn, body); err != nil {
		t.Fatal(err)
	}
	return append(head, body...)
}

// TestHostileHellos: the server gets no byte of what only looks like TLS.
func TestHostileHellos(t *testing.T) {
	good := captureHello(t, "example.com")
	evil := captureHello(t, "evil.test")
	var mu sync.Mutex
	var seen []byte
	port := server(t, func(c *net.TCPConn) {
		b, _ := io.ReadAll(c)
		mu.Lock()
		seen = append(seen, b...)
		mu.Unlock()
		c.Close()
	})
	w := newWorld(t, rules(t, []string{"example.com", loop(port)}, nil), func(c *Config) { c.HeadTimeout = 100 * time.Millisecond })
	w.book.any = "127.0.0.1"
	at := w.transparent("example.com", port)
	for name, raw := range map[string][]byte{
		"another name":     evil,
		"alert before":     append([]byte{21, 3, 1, 0, 2, 1, 100}, evil...),
		"cut":              good[:50],
		"sslv2":            {0x80, 0x2e, 1, 3, 1, 0, 3, 0, 0, 0, 16},
		"ech":              withECH(good),
		"two in a record":  twice(good),
		"application data": {23, 3, 3, 0, 1, 0},
	} {
		conn := dialTCP(t, at)
		_, _ = conn.Write(raw)
		if _, err := io.ReadAll(conn); isTimeout(err) {
			t.Errorf("%s: still open", name)
		}
	}
	for _, e := range w.ledger.wait(t, 7) {
		if e.Allowed || e.Sent != 0 {
			t.Errorf("%+v", e)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(seen) > 0 {
		t.Errorf("the server saw %q", seen)
	}
}

// TestGoneWithinHello: a client that ends within its ClientHello was denied
// nothing, and nothing of it reaches the server; one that ends behind a hello
// for another name was denied.
func TestGoneWithinHello(t *testing.T) {
	seen := make(chan []byte, 10)
	port := server(t, func(c *net.TCPConn) {
		b, _ := io.ReadAll(c)
		seen <- b
		c.Close()
	})
	w := newWorld(t, rules(t, []string{"example.com", loop(port)}, nil), nil)
	w.book.any = "127.0.0.1"
	at := w.transparent("example.com", port)
	for i, c := range []struct {
		name    string
		send    []byte
		reason  rule.Reason
		allowed bool
	}{
		{"a byte", captureHello(t, "example.com")[:1], Interrupted, true},
		{"half of it", captureHello(t, "example.com")[:50], Interrupted, true},
		{"half, hidden", captureHello(t, "evil.test")[:50], Interrupted, true},
		{"another name", captureHello(t, "evil.test"), DeniedSNI, false},
	} {
		conn := dialTCP(t, at)
		_, _ = conn.Write(c.send)
		_ = conn.CloseWrite()
		if e := w.ledger.wait(t, i+1)[i]; e.Reason != c.reason || e.Allowed != c.allowed || e.Sent != 0 {
			t.Errorf("%s: %+v", c.name, e)
		}
		if b := <-seen; len(b) > 0 {
			t.Errorf("%s: the server saw %q", c.name, b)
		}
	}
}

// withECH appends an encrypted_client_hello extension.
func withECH(raw []byte) []byte {
	b := append(bytes.Clone(raw), 0xfe, 0x0d, 0, 1, 0)
	add := func(at, bytes int) {
		n := 0
		for i := range bytes {
			n = n<<8 | int(b[at+i])
		}
		n += 5
		for i := bytes - 1; i >= 0; i-- {
			b[at+i] = byte(n)
			n >>= 8
		}
	}
	add(3, 2) // record
	add(6, 3) // handshake
	at := 5 + 4 + 2 + 32
	at += 1 + int(b[at])
	at += 2 + int(b[at])<<8 + int(b[at+1])
	at += 1 + int(b[at])
	add(at, 2) // extensions
	return b
}

func twice(raw []byte) []byte {
	body := append(bytes.Clone(raw[5:]), raw[5:]...)
	return append([]byte{22, 3, 1, byte(len(body) >> 8), byte(len(body))}, body...)
}

// TestServerFirst: a protocol in which the server speaks first is not held up.
func TestServerFirst(t *testing.T) {
	port := server(t, func(c *net.TCPConn) {
		defer c.Close()
		_, _ = io.WriteString(c, "220 ready\r\n")
		b, _ := io.ReadAll(c)
		_, _ = c.Write(b)
	})
	w := newWorld(t, rules(t, []string{"example.com", loop(port)}, nil), nil)
	w.book.any = "127.0.0.1"
	conn := dialTCP(t, w.transparent("example.com", port))
	banner := make([]byte, 11)
	if _, err := io.ReadFull(conn, banner); err != nil || string(banner) != "220 ready\r\n" {
		t.Fatalf("%q, %v", banner, err)
	}
	if got, err := say(t, conn, "QUIT"); err != nil || got != "QUIT" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestInterceptedAtAddress: a client of an allowed address cannot name an
// intercepted host there and so avoid the interception.
func TestInterceptedAtAddress(t *testing.T) {
	o := newOpening(t, func(i *Intercept) {
		i.Endpoints = []Endpoint{{Host: mustPattern(t, "example.com"), Methods: []string{"GET"}}}
	})
	for name, want := range map[string]bool{"other.test": true, "example.com": false} {
		conn, _ := o.connect(loop(o.port))
		secure := tls.Client(conn, &tls.Config{ServerName: name, InsecureSkipVerify: true}) // the server's own certificate
		_, _ = fmt.Fprintf(secure, "%s / HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\n\r\n", "POST", name)
		head := readHead(secure)
		conn.Close()
		if got := strings.HasPrefix(head, "HTTP/1.1 200 "); got != want {
			t.Errorf("%s: %q", name, head)
		}
	}
}
