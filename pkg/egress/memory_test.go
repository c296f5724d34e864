package egress

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"ethos/pkg/egress/hello"
	"ethos/pkg/egress/rule"
	"ethos/pkg/shorttest"
)

// What docs/sandbox.md counts a connection with.
const (
	perServed = 400 << 10
	perHTTP2  = 6 << 20
)

// inUse is the memory that is held, that of the clients in the test included.
func inUse() int64 {
	var m runtime.MemStats
	for range 3 { // pools are emptied at the second
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// greet is a client that names example.com in TLS and offers protocols.
func (o *opening) greet(protocols ...string) (*tls.Conn, error) {
	conn, _ := o.connect(fmt.Sprintf("example.com:%d", o.port))
	secure := tls.Client(conn, &tls.Config{ServerName: "example.com", RootCAs: o.roots, NextProtos: protocols})
	return secure, secure.Handshake()
}

// TestRefusalsAreNotHeld: hundreds of clients that take no answers to refused
// requests (a window of 0), or never end a head, hold what docs/sandbox.md says
// and no more, and the refused requests only for a while.
func TestRefusalsAreNotHeld(t *testing.T) {
	shorttest.Long(t)
	const clients = 300
	o := newOpening(t, open(t), func(c *Config) { c.HeadTimeout = 8 * time.Second })
	var head strings.Builder
	_, _ = fmt.Fprintf(&head, "GET /secret HTTP/1.1\r\nHost: example.com:%d\r\n", o.port)
	for i := range 3000 {
		_, _ = fmt.Fprintf(&head, "%x:\r\n", i)
	}
	before, goroutines := inUse(), runtime.NumGoroutine()
	spoken := map[string]int{}
	var conns []*tls.Conn
	for range clients {
		conn, err := o.greet("h2", "http/1.1")
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
		spoken[conn.ConnectionState().NegotiatedProtocol]++
		if conn.ConnectionState().NegotiatedProtocol != "h2" {
			_, _ = io.WriteString(conn, head.String())
			continue
		}
		f := newFrames(t, conn)
		_, _ = io.WriteString(conn, http2.ClientPreface)
		_ = f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
		_ = f.WriteSettingsAck()
		var long []string
		for i := range 12 {
			long = append(long, fmt.Sprintf("x-%d", i), strings.Repeat("a", 1000))
		}
		for i := range clientStreams {
			o.get(f, uint32(2*i+1), "/secret", long...)
		}
	}
	if spoken["h2"] != maxHTTP2 || spoken["http/1.1"] != clients-maxHTTP2 {
		t.Errorf("%v", spoken)
	}
	until(t, "all are refused", func() bool {
		refused := 0
		for _, e := range o.ledger.all() {
			if e.Reason == DeniedRequest {
				refused++
			}
		}
		return refused == maxHTTP2*clientStreams
	})
	held, running := inUse()-before, runtime.NumGoroutine()-goroutines
	t.Logf("%d KiB and %d goroutines are held", held>>10, running)
	if most := int64(maxHTTP2*perHTTP2 + clients*perServed); held > most {
		t.Errorf("%d bytes are held, more than %d", held, most)
	}
	if most := maxHTTP2*clientStreams + 10*clients; running > most {
		t.Errorf("%d goroutines, more than %d", running, most)
	}
	response, err := o.client().Get(o.url("/open/x")) // the allowed twin
	if err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("%v, %v", response, err)
	}
	until(t, "nothing is held for those who wait", func() bool { return runtime.NumGoroutine()-goroutines < 10*clients })
	for _, conn := range conns {
		conn.Close()
	}
	until(t, "all places are free", func() bool { return len(o.served)+len(o.http2)+len(o.requests) == 1 })
}

// TestPlacesForHTTP2: a client beyond the limit that speaks nothing but HTTP/2
// waits and is then turned away; a place that becomes free is given to it.
func TestPlacesForHTTP2(t *testing.T) {
	o := newOpening(t, open(t), func(c *Config) { c.HeadTimeout = 4 * time.Second }) // half of it is the wait
	for range maxHTTP2 - 1 {
		o.http2 <- struct{}{}
	}
	first := o.frames()
	if _, err := o.greet("h2"); err == nil {
		t.Error("one more than the limit")
	}
	if e := o.ledger.wait(t, 1)[0]; e.Allowed || e.Reason != Busy {
		t.Errorf("%+v", e)
	}
	time.AfterFunc(50*time.Millisecond, func() { first.conn.Close() })
	conn, err := o.greet("h2")
	if err != nil || conn.ConnectionState().NegotiatedProtocol != "h2" {
		t.Fatalf("%v", err)
	}
	f := newFrames(t, conn)
	_, _ = io.WriteString(conn, http2.ClientPreface)
	_ = f.WriteSettings()
	o.get(f, 1, "/open/x")
	if got := f.answer(1); got.status != "200" {
		t.Errorf("%+v", got)
	}
}

// TestPlacesOfConnections: the connections whose requests are read have a limit
// of their own. One beyond it waits for a place; connections that are only
// relayed do not need one.
func TestPlacesOfConnections(t *testing.T) {
	site := server(t, echo)
	o := newOpening(t, open(t), func(c *Config) {
		c.Rules, c.DialTimeout = rules(t, []string{"example.com", "other.test", "127.0.0.1"}, nil), 2*time.Second
	})
	at := fmt.Sprintf("example.com:%d", o.port)
	for range maxServed - 1 {
		o.served <- struct{}{}
	}
	first, _ := o.connect(at)
	if _, head := o.connect(at); reason(head) != Busy || !strings.HasPrefix(head, "HTTP/1.1 503 ") {
		t.Errorf("%q", head)
	}
	conn := dialTCP(t, o.proxy)
	_, _ = fmt.Fprintf(conn, "GET http://other.test:%d/ HTTP/1.1\r\nHost: other.test:%d\r\n\r\n", site, site)
	if head := readHead(conn); reason(head) != Busy {
		t.Errorf("%q", head)
	}
	relayed, head := o.connect(fmt.Sprintf("other.test:%d", site))
	if got, err := say(t, relayed, "x"); err != nil || got != "hello x" {
		t.Errorf("%q, %v, %s", got, err, head)
	}
	time.AfterFunc(50*time.Millisecond, func() { first.Close() })
	if _, head := o.connect(at); !strings.HasPrefix(head, "HTTP/1.1 200 ") {
		t.Errorf("%q", head)
	}
	for _, e := range o.ledger.all() {
		if e.Reason != "" && (e.Reason != Busy || e.Allowed) {
			t.Errorf("%+v", e)
		}
	}
}

// TestRequestsUntilTheyAreTaken: a request is under way until the client has
// taken the answer, however short that is.
func TestRequestsUntilTheyAreTaken(t *testing.T) {
	const n = 5
	var answered atomic.Int64
	port, roots := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "short")
		answered.Add(1)
	}), nil)
	o := intercepting(t, port, roots, open(t))
	f := o.frames(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	for i := range n {
		o.get(f, uint32(2*i+1), "/open/x")
	}
	for heads := 0; heads < n; {
		frame, err := f.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := frame.(*http2.MetaHeadersFrame); ok {
			heads++
		}
	}
	if len(o.requests) != n || answered.Load() != n {
		t.Errorf("%d of %d are under way", len(o.requests), answered.Load())
	}
	_ = f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 100})
	until(t, "all have ended", func() bool { return len(o.requests) == 0 })
}

// TestManyFields: a head of many fields, which takes far more memory than its
// bytes, is refused in both directions.
func TestManyFields(t *testing.T) {
	port, roots := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := 0
		_, _ = fmt.Sscan(r.URL.Query().Get("n"), &n)
		for i := range n {
			w.Header().Add("X", fmt.Sprint(i))
		}
	}), nil)
	o := intercepting(t, port, roots, open(t))
	for _, protocol := range []string{"h2", "http/1.1"} {
		client := o.speaking(protocol)
		get := func(sent, answered int) (int, rule.Reason) {
			r, err := http.NewRequest("GET", o.url(fmt.Sprintf("/open/x?n=%d", answered)), nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range sent {
				r.Header.Add("X", fmt.Sprint(i))
			}
			response, err := client.Do(r)
			if err != nil {
				t.Fatal(protocol, err)
			}
			response.Body.Close()
			return response.StatusCode, rule.Reason(response.Header.Get(ErrorHeader))
		}
		if status, why := get(maxFields-10, maxFields-10); status != http.StatusOK || why != "" {
			t.Errorf("%s: %d %s", protocol, status, why)
		}
		if status, why := get(maxFields+10, 1); status != http.StatusBadRequest || why != BadRequest {
			t.Errorf("%s: a request: %d %s", protocol, status, why)
		}
		if status, why := get(1, maxFields+10); status != http.StatusBadGateway || why != Unreachable {
			t.Errorf("%s: an answer: %d %s", protocol, status, why)
		}
	}
}

// TestSlowHellos: a thousand clients whose ClientHello is long and never ends
// hold what docs/sandbox.md says and no more, and no client with a short one
// waits for them. One with a long one waits for its turn.
func TestSlowHellos(t *testing.T) {
	shorttest.Long(t)
	const clients, rest = 1000, 50 << 10
	site := server(t, echo)
	w := newWorld(t, rules(t, []string{"example.com", "127.0.0.1"}, nil), func(c *Config) { c.HeadTimeout = 20 * time.Second })
	w.book.any = "127.0.0.1"
	at := fmt.Sprintf("example.com:%d", site)
	slow := []byte{22, 3, 1, 64, 0, 1, 0, 120, 0}
	slow = append(slow, make([]byte, 16<<10-4)...)
	slow = append(slow, 22, 3, 1, 64, 0)
	slow = append(slow, make([]byte, 14<<10)...)
	before := inUse()
	for range clients {
		conn, _ := w.connect(at)
		if _, err := conn.Write(slow); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "all places are taken", func() bool { return len(w.hellos) == maxHellos })
	held := inUse() - before
	t.Logf("%d KiB are held", held>>10)
	if most := int64(maxHellos*hello.MaxLen + clients*rest); held > most {
		t.Errorf("%d bytes are held, more than %d", held, most)
	}
	port, roots := serveTLS(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), nil)
	for name, protocols := range map[string][]string{"short": nil, "long": slices.Repeat([]string{strings.Repeat("p", 250)}, 30)} {
		conn, _ := w.connect(fmt.Sprintf("example.com:%d", port))
		if err := tls.Client(conn, &tls.Config{ServerName: "example.com", RootCAs: roots, NextProtos: append(protocols, "http/1.1")}).Handshake(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	until(t, "the places are free", func() bool { return len(w.hellos) == 0 })
}
