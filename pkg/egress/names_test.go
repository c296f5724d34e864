package egress

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ethos/pkg/egress/dns"
	"ethos/pkg/egress/pool"
)

const hostsFile = `
127.0.0.1 localhost myhost # comment
127.0.1.1	MyHost.corp.example myhost
::1 localhost ip6-localhost
10.0.0.5 db db.corp.example
10.0.0.6 secret-db
0.0.0.0 ads.test
not-an-address x
10.0.0.7
`

// TestUnconnected: allowed names that were asked for are known until a
// connection to them comes, by any door; refused names are none of them.
func TestUnconnected(t *testing.T) {
	port := server(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c); c.Close() })
	w := newWorld(t, rules(t, []string{"*.example", loop(port)}, nil), nil)
	w.book.any = "127.0.0.1"
	for _, name := range []string{"a.example", "b.example", "A.example.", "c.example", "evil.test", "localhost"} {
		w.names.Lookup(t.Context(), name)
	}
	if got := fmt.Sprint(w.Unconnected()); got != "[a.example b.example c.example]" {
		t.Error(got)
	}
	if err := ping(dialTCP(t, w.transparent("b.example", port)), 'x'); err != nil {
		t.Error(err)
	}
	conn := dialTCP(t, w.proxy)
	fmt.Fprintf(conn, "CONNECT c.example:1 HTTP/1.1\r\nHost: c.example:1\r\n\r\n")
	_, _ = io.ReadAll(conn)
	if got := fmt.Sprint(w.Unconnected()); got != "[a.example]" {
		t.Error(got)
	}
	for i := range 2 * maxUnconnected {
		w.names.Lookup(t.Context(), fmt.Sprint("n", i, ".example"))
	}
	if n := len(w.names.asked); n != maxUnconnected {
		t.Errorf("%d names are kept", n)
	}
}

func TestLookup(t *testing.T) {
	hosts, err := ParseHosts(strings.NewReader(hostsFile))
	if err != nil {
		t.Fatal(err)
	}
	l := &ledger{}
	g, err := New(Config{
		Rules: rules(t, []string{"example.com:443", "*.wild.example", "10.0.0.5:5432", "app.corp.example"}, []string{"bad.wild.example", "db.corp.example"}),
		Hosts: hosts, Search: []string{"corp.example", "Example."}, Sink: l,
		Table: newTable(t), Resolver: &book{any: "20.0.0.1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	n := g.names
	for name, want := range map[string]string{
		"example.com": "127.18.0", "A.wild.example": "127.18.0", "app.corp.example": "127.18.0",
		"localhost": "127.0.0.1 ::1", "x.LOCALHOST": "127.0.0.1 ::1", "myhost": "127.0.0.1 127.0.1.1", "ip6-localhost": "::1",
		"db": "10.0.0.5", "10.0.0.5": "10.0.0.5",
		"secret-db": "refused", "ads.test": "refused", "evil.test": "refused", "10.0.0.6": "refused", "a b.test": "refused", "x": "refused",
		"bad.wild.example": "absent", "wild.example": "absent", "db.corp.example": "absent",
		"other.corp.example": "absent", "example.com.corp.example": "absent", "myhost.corp.example": "127.0.1.1", "localhost.corp.example": "absent", "corp.example": "absent",
	} {
		answer := n.Lookup(t.Context(), name)
		got := map[dns.Status]string{dns.Blocked: "refused", dns.Absent: "absent", dns.Failed: "failed"}[answer.Status]
		if answer.Status == dns.Found {
			var texts []string
			for _, addr := range answer.Addrs {
				texts = append(texts, addr.String())
			}
			got = strings.Join(texts, " ")
		}
		if got != want && (!strings.HasSuffix(want, ".0") || !strings.HasPrefix(got, want)) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		n.Lookup(t.Context(), name)
	}
	told := map[string]Event{}
	for _, e := range l.all() {
		if _, twice := told[e.Name]; twice {
			t.Errorf("%s is told twice", e.Name)
		}
		told[e.Name] = e
		if e.Door != DoorDNS || e.Allowed || e.Reason == "" || e.Detail == "" {
			t.Errorf("%+v", e)
		}
	}
	for name, remedy := range map[string]string{"evil.test": "evil.test", "secret-db": "secret-db", "bad.wild.example": "", "other.corp.example": "other.corp.example", "a b.test": ""} {
		if e, ok := told[name]; !ok || e.Remedy != remedy {
			t.Errorf("%s: %+v", name, e)
		}
	}
	for _, name := range []string{"example.com.corp.example", "localhost.corp.example", "example.com", "localhost", "db"} {
		if e, ok := told[name]; ok {
			t.Errorf("%+v", e)
		}
	}
}

func newTable(t testing.TB) *pool.Table {
	t.Helper()
	table, err := pool.New(testRange, netip.Prefix{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestFullTable: names beyond the range are told and answered SERVFAIL; those
// before keep their addresses.
func TestFullTable(t *testing.T) {
	table, err := pool.New(netip.MustParsePrefix("127.18.0.0/30"), netip.Prefix{})
	if err != nil {
		t.Fatal(err)
	}
	l := &ledger{}
	g, err := New(Config{Rules: rules(t, []string{"*.wild.example"}, nil), Table: table, Sink: l, Resolver: &book{any: "20.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	n := g.names
	for name, want := range map[string]dns.Status{"a": dns.Found, "b": dns.Found} {
		if got := n.Lookup(t.Context(), name+".wild.example"); got.Status != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := n.Lookup(t.Context(), "c.wild.example"); got.Status != dns.Failed {
		t.Errorf("%v", got)
	}
	if all := l.all(); len(all) != 1 || all[0].Reason != Overloaded {
		t.Errorf("%+v", all)
	}
}

func TestReverse(t *testing.T) {
	g, err := New(Config{Table: newTable(t), Sink: &ledger{}})
	if err != nil {
		t.Fatal(err)
	}
	n := g.names
	addr, _, _ := n.table.Assign("example.com")
	for at, want := range map[string]string{addr.String(): "example.com", "::1": "localhost", "127.0.0.1": "localhost", "127.18.9.9": "localhost", "8.8.8.8": ""} {
		if got, ok := n.Reverse(netip.MustParseAddr(at)); got != want || ok != (want != "") {
			t.Errorf("%s: %q", at, got)
		}
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []Config{{MaxConns: -1}, {HeadTimeout: -1}, {DialTimeout: -1}, {Search: []string{"a b"}}} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	g, err := New(Config{})
	if err != nil || g.Table() == nil {
		t.Fatal(err)
	}
}

// TestLookupResolves: a name that does not exist, or that has none but refused
// addresses, is told by the name server. A listed address is the twin.
func TestLookupResolves(t *testing.T) {
	l := &ledger{}
	g, err := New(Config{
		Rules: rules(t, []string{"*.corp.example", "10.0.0.5:5432"}, nil), Table: newTable(t), Sink: l,
		Resolver: &book{names: map[string][][]string{
			"private.corp.example": {{"10.0.0.6", "127.0.0.1"}}, "db.corp.example": {{"10.0.0.5"}}, "both.corp.example": {{"10.0.0.6", "20.0.0.1"}},
			"metadata.corp.example": {{"169.254.169.254"}}, "mapped.corp.example": {{"::ffff:10.0.0.9"}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]dns.Status{
		"private": dns.Blocked, "db": dns.Found, "both": dns.Found, "metadata": dns.Blocked, "mapped": dns.Blocked, "none": dns.Absent,
	} {
		if got := g.names.Lookup(t.Context(), name+".corp.example"); got.Status != want {
			t.Errorf("%s: %+v, want %v", name, got, want)
		}
	}
	remedies := map[string]string{}
	for _, e := range l.all() {
		remedies[e.Name] = string(e.Reason) + " " + e.Remedy
	}
	if got := remedies["private.corp.example"]; len(remedies) != 3 || got != "denied-address 10.0.0.6" {
		t.Errorf("%q in %v", got, remedies)
	}
}

// crowd is a name server that does not answer before it is told to.
type crowd struct {
	release   chan struct{}
	now, most atomic.Int32
}

func (c *crowd) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	n := c.now.Add(1)
	defer c.now.Add(-1)
	for most := c.most.Load(); n > most && !c.most.CompareAndSwap(most, n); most = c.most.Load() {
	}
	select {
	case <-c.release:
		return []netip.Addr{netip.MustParseAddr("20.0.0.1")}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestLookupsAreBounded: very many names and a name server that is silent take
// few sockets, and each name has its answer when there is one.
func TestLookupsAreBounded(t *testing.T) {
	c := &crowd{release: make(chan struct{})}
	g, err := New(Config{Rules: rules(t, []string{"*.wild.example"}, nil), Table: newTable(t), Sink: &ledger{}, Resolver: c})
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for i := range 10 * maxAsked {
		wait.Go(func() {
			if got := g.names.Lookup(t.Context(), strconv.Itoa(i)+"x.wild.example"); got.Status != dns.Found {
				t.Errorf("%d: %v", i, got)
			}
		})
	}
	for c.now.Load() < maxAsked {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond) // for more than there may be
	close(c.release)
	wait.Wait()
	if most := c.most.Load(); most != maxAsked {
		t.Errorf("%d names were asked for at once, want %d", most, maxAsked)
	}
}
