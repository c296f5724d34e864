package egress

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ethos/pkg/egress/pool"
	"ethos/pkg/egress/rule"
)

// patience ends a test that hangs.
const patience = time.Minute

// book is a resolver: names without the final dot, and their addresses, one
// list for each time that it is asked, the last one for ever.
type book struct {
	mu    sync.Mutex
	names map[string][][]string
	any   string // the address of every other name
	asked []string
}

func (b *book) LookupNetIP(_ context.Context, _, host string) (addrs []netip.Addr, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	host = strings.TrimSuffix(host, ".")
	b.asked = append(b.asked, host)
	lists := b.names[host]
	if len(lists) == 0 && b.any == "" {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	list := []string{b.any}
	if len(lists) > 0 {
		list = lists[0]
	}
	if len(lists) > 1 {
		b.names[host] = lists[1:]
	}
	for _, text := range list {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	return addrs, nil
}

// ledger is a sink that keeps events.
type ledger struct {
	mu     sync.Mutex
	events []Event
}

func (l *ledger) Record(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

func (l *ledger) all() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

// wait returns the events once there are n.
func (l *ledger) wait(t testing.TB, n int) []Event {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if all := l.all(); len(all) >= n {
			return all
		}
	}
	t.Fatalf("%d events, want %d: %+v", len(l.all()), n, l.all())
	return nil
}

// world is a gateway with its doors on loopback. The range of its table is one
// of 127.0.0.0/8, so that its addresses are local without a namespace.
type world struct {
	t testing.TB
	*Gateway
	book   *book
	ledger *ledger
	ctx    context.Context
	proxy  string // address of the explicit proxy
}

var testRange = netip.MustParsePrefix("127.18.0.0/16")

func rules(t testing.TB, allow, deny []string) rule.Rules {
	t.Helper()
	a, err := rule.ParseSet(allow)
	if err != nil {
		t.Fatal(err)
	}
	d, err := rule.ParseSet(deny)
	if err != nil {
		t.Fatal(err)
	}
	return rule.Rules{Allow: a, Deny: d}
}

// newWorld serves the explicit proxy of a gateway; change may edit its
// configuration.
func newWorld(t testing.TB, r rule.Rules, change func(*Config)) *world {
	t.Helper()
	table, err := pool.New(testRange, netip.Prefix{})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, book: &book{names: map[string][][]string{}}, ledger: &ledger{}}
	c := Config{Rules: r, Table: table, Resolver: w.book, Sink: w.ledger}
	if change != nil {
		change(&c)
	}
	if w.Gateway, err = New(c); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.ctx = ctx
	var wait sync.WaitGroup
	listener := listen(t, "127.0.0.1:0")
	w.proxy = listener.Addr().String()
	wait.Go(func() {
		if err := w.ServeProxy(ctx, listener); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); wait.Wait() })
	return w
}

// transparent makes the door for a name and a port, and returns the address
// that a program would connect to.
func (w *world) transparent(name string, port uint16) string {
	w.t.Helper()
	addr, _, ok := w.Table().Assign(name)
	if !ok {
		w.t.Fatal("no address")
	}
	return w.door(netip.AddrPortFrom(addr, port))
}

func (w *world) door(at netip.AddrPort) string {
	w.t.Helper()
	listener := listen(w.t, at.String())
	done := make(chan error, 1)
	go func() { done <- w.ServeTransparent(w.ctx, listener) }()
	w.t.Cleanup(func() {
		listener.Close()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	})
	return at.String()
}

func listen(t testing.TB, address string) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

// server runs handle for each connection to a port of the loopback.
func server(t testing.TB, handle func(*net.TCPConn)) (port uint16) {
	t.Helper()
	listener := listen(t, "127.0.0.1:0")
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go handle(conn.(*net.TCPConn))
		}
	}()
	return portOf(t, listener.Addr().String())
}

// echo answers with what it has read, after "hello ", when the client ends.
func echo(conn *net.TCPConn) {
	defer conn.Close()
	b, err := io.ReadAll(conn)
	if err == nil {
		_, _ = conn.Write(append([]byte("hello "), b...))
	}
}

func portOf(t testing.TB, address string) uint16 {
	t.Helper()
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return at.Port()
}

func dialTCP(t testing.TB, address string) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn.(*net.TCPConn)
}

// say writes, ends the sending direction and reads to the end.
func say(t testing.TB, conn *net.TCPConn, text string) (string, error) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		return "", err
	}
	if err := conn.CloseWrite(); err != nil {
		return "", err
	}
	b, err := io.ReadAll(conn)
	return string(b), err
}

// visit connects and says a text. A door that refuses may do so before
// connect(2) has returned.
func visit(t testing.TB, address, text string) (string, error) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return "", err
	}
	return say(t, conn.(*net.TCPConn), text)
}

// connect asks the explicit proxy for a tunnel, and returns the status.
func (w *world) connect(authority string) (conn *net.TCPConn, status string) {
	conn = dialTCP(w.t, w.proxy)
	_, _ = fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", authority, authority)
	return conn, readHead(conn)
}

// readHead reads the head of an answer byte by byte.
func readHead(conn net.Conn) string {
	var b []byte
	one := make([]byte, 1)
	for !bytes.HasSuffix(b, []byte("\r\n\r\n")) {
		if n, err := conn.Read(one); n == 0 || err != nil {
			break
		}
		b = append(b, one[0])
	}
	return string(b)
}

// reason is the value of x-ethos-error in an answer, "" without.
func reason(answer string) rule.Reason {
	for line := range strings.SplitSeq(answer, "\r\n") {
		if name, value, ok := strings.Cut(line, ": "); ok && strings.EqualFold(name, ErrorHeader) {
			return rule.Reason(value)
		}
	}
	return ""
}

func loop(port uint16) string { return "127.0.0.1:" + strconv.Itoa(int(port)) }
