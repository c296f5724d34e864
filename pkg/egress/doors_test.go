package egress

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"ethos/pkg/egress/rule"
)

func TestTransparent(t *testing.T) {
	port := server(t, echo)
	w := newWorld(t, rules(t, []string{"example.com", loop(port)}, nil), nil)
	w.book.names["example.com"] = [][]string{{"127.0.0.1"}}
	got, err := say(t, dialTCP(t, w.transparent("example.com", port)), "world")
	if err != nil || got != "hello world" {
		t.Fatalf("%q, %v", got, err)
	}
	e := w.ledger.wait(t, 1)[0]
	if !e.Allowed || e.Door != DoorTransparent || e.Name != "example.com" || e.Port != port || e.Address != loop(port) ||
		e.Sent != 5 || e.Received != 11 || e.Rule != "example.com" || e.Reason != "" || e.Time.IsZero() {
		t.Errorf("%+v", e)
	}
}

// TestTransparentRefusals: each is a reset, the server sees nothing, and the
// event says why and what would help. Each has its allowed twin in the rules.
func TestTransparentRefusals(t *testing.T) {
	reached := make(chan struct{}, 100)
	port := server(t, func(c *net.TCPConn) { reached <- struct{}{}; c.Close() })
	for name, c := range map[string]struct {
		allow, deny []string
		addrs       [][]string
		name        string
		want        rule.Reason
		remedy      string
	}{
		"not listed":         {[]string{"other.test", loop(port)}, nil, nil, "example.com", rule.NotAllowed, "example.com:PORT"},
		"empty list":         {nil, nil, nil, "example.com", rule.NotAllowed, "example.com:PORT"},
		"other port":         {[]string{"example.com:1", loop(port)}, nil, nil, "example.com", rule.NotAllowed, "example.com:PORT"},
		"denied":             {[]string{"example.com", loop(port)}, []string{"*.com"}, nil, "example.com", rule.Denied, ""},
		"resolves privately": {[]string{"example.com"}, nil, [][]string{{"127.0.0.1"}}, "example.com", rule.DeniedAddress, loop(port)},
		"all of them":        {[]string{"example.com"}, nil, [][]string{{"::1", "127.0.0.1", "10.0.0.1"}}, "example.com", rule.DeniedAddress, "[::1]:PORT"},
		"mapped":             {[]string{"example.com"}, nil, [][]string{{"::ffff:127.0.0.1"}}, "example.com", rule.DeniedAddress, loop(port)},
		"nat64":              {[]string{"example.com"}, nil, [][]string{{"64:ff9b::7f00:1"}}, "example.com", rule.DeniedAddress, "[64:ff9b::7f00:1]:PORT"},
		"metadata":           {[]string{"example.com", "0.0.0.0/0"}, nil, [][]string{{"169.254.169.254"}}, "example.com", rule.DeniedAddress, ""},
		"the table itself":   {[]string{"example.com"}, nil, [][]string{{"198.18.0.1"}}, "example.com", rule.DeniedAddress, "198.18.0.1:PORT"},
		"denied address":     {[]string{"example.com", loop(port)}, []string{"127.0.0.0/8"}, [][]string{{"127.0.0.1"}}, "example.com", rule.Denied, ""},
		"no such name":       {[]string{"example.com", loop(port)}, nil, nil, "example.com", Unresolved, ""},
		"localhost by star":  {[]string{"*"}, nil, nil, "localhost", rule.NotAllowed, "localhost:PORT"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, rules(t, c.allow, c.deny), nil)
			if c.addrs != nil {
				w.book.names[c.name] = c.addrs
			}
			got, err := visit(t, w.transparent(c.name, port), "x")
			if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ENOTCONN) {
				t.Errorf("%q, %v", got, err)
			}
			e := w.ledger.wait(t, 1)[0]
			if e.Allowed || e.Reason != c.want || e.Remedy != strings.ReplaceAll(c.remedy, "PORT", fmt.Sprint(port)) || e.Name != c.name || e.Detail == "" {
				t.Errorf("%+v", e)
			}
		})
	}
	select {
	case <-reached:
		t.Error("the server was reached")
	default:
	}
}

// TestRebinding: a name whose second answer is private gains nothing, because
// each connection dials an address that was judged for it.
func TestRebinding(t *testing.T) {
	port := server(t, echo)
	dialled := &dials{to: loop(port)}
	w := newWorld(t, rules(t, []string{"example.com"}, nil), func(c *Config) { c.Dialer = dialled })
	w.resolutions.kept = 0
	w.book.names["example.com"] = [][]string{{"93.184.216.34"}, {"127.0.0.1"}, {"93.184.216.34", "127.0.0.1"}}
	at := w.transparent("example.com", port)
	for i, want := range []string{"hello x", "", "hello x"} {
		if got, _ := visit(t, at, "x"); got != want {
			t.Errorf("connection %d: %q", i, got)
		}
	}
	if want := []string{fmt.Sprintf("93.184.216.34:%d", port), fmt.Sprintf("93.184.216.34:%d", port)}; !slices.Equal(dialled.all(), want) {
		t.Errorf("dialled %v, want %v", dialled.all(), want)
	}
}

// TestLiterals: an address inside that is none of the table means itself, and
// the loopback means the host's "localhost" where that is listed.
func TestLiterals(t *testing.T) {
	port := server(t, echo)
	for _, c := range []struct {
		allow   string
		at      string
		want    bool
		address string
	}{
		{"localhost:PORT", "127.0.0.3", true, "127.0.0.1:PORT"},
		{"127.0.0.4:PORT", "127.0.0.4", true, "127.0.0.4:PORT"},
		{"127.0.0.5:PORT", "127.0.0.6", false, ""},
		{"*", "127.0.0.7", false, ""},
		{"localhost:1", "127.0.0.8", false, ""},
	} {
		number := fmt.Sprint(port)
		dialled := &dials{to: loop(port)}
		w := newWorld(t, rules(t, []string{strings.ReplaceAll(c.allow, "PORT", number)}, nil), func(c *Config) { c.Dialer = dialled })
		got, _ := visit(t, w.door(netip.AddrPortFrom(netip.MustParseAddr(c.at), port)), "x")
		if got == "hello x" != c.want {
			t.Errorf("%+v: %q", c, got)
		}
		if all := dialled.all(); c.want && (len(all) == 0 || all[0] != strings.ReplaceAll(c.address, "PORT", number)) || !c.want && len(all) > 0 {
			t.Errorf("%+v: dialled %v", c, all)
		}
	}
}

// TestNeverHandedOut: an address of the range that no name has is refused.
func TestNeverHandedOut(t *testing.T) {
	port := server(t, echo)
	w := newWorld(t, rules(t, []string{"*", "127.0.0.0/8"}, nil), nil)
	if got, err := visit(t, w.door(netip.AddrPortFrom(netip.MustParseAddr("127.18.7.7"), port)), "x"); err == nil {
		t.Errorf("%q", got)
	}
	if e := w.ledger.wait(t, 1)[0]; e.Reason != UnknownTarget || e.Allowed {
		t.Errorf("%+v", e)
	}
}

// dials is a dialer that keeps what it is asked for, and connects to one
// server.
type dials struct {
	to string
	mu sync.Mutex
	at []string
}

func (d *dials) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	d.mu.Lock()
	d.at = append(d.at, address)
	d.mu.Unlock()
	return (&net.Dialer{}).DialContext(ctx, network, d.to)
}

func (d *dials) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.at)
}

func TestConnect(t *testing.T) {
	port := server(t, echo)
	w := newWorld(t, rules(t, []string{"example.com", "127.0.0.1"}, nil), nil)
	w.book.names["example.com"] = [][]string{{"127.0.0.1"}}
	for _, authority := range []string{"example.com", "EXAMPLE.com.", "127.0.0.1", "2130706433", "[::ffff:127.0.0.1]"} {
		conn, head := w.connect(fmt.Sprintf("%s:%d", authority, port))
		if !strings.HasPrefix(head, "HTTP/1.1 200 ") {
			t.Errorf("%s: %q", authority, head)
			continue
		}
		if got, err := say(t, conn, "x"); err != nil || got != "hello x" {
			t.Errorf("%s: %q, %v", authority, got, err)
		}
	}
	conn, head := w.connect("evil.test:443")
	body, _ := io.ReadAll(conn)
	var refusal refusalBody
	if err := json.Unmarshal(body, &refusal); err != nil || !strings.HasPrefix(head, "HTTP/1.1 403 ") || reason(head) != rule.NotAllowed ||
		refusal.Error != rule.NotAllowed || refusal.Remedy != "evil.test:443" || refusal.Name != "evil.test" {
		t.Errorf("%s%s: %v", head, body, err)
	}
	if _, head := w.connect("10.0.0.1:443"); reason(head) != rule.DeniedAddress {
		t.Errorf("%s", head)
	}
	for _, bad := range []string{"example.com", "example.com:0", "example.com:99999", "user@example.com:443", "http://example.com:443", "/", ":443", "a b:443"} {
		if _, head := w.connect(bad); !strings.HasPrefix(head, "HTTP/1.1 400 ") || reason(head) != BadRequest {
			t.Errorf("%s: %q", bad, head)
		}
	}
}

// socksAsk sends a SOCKS5 request for a domain and returns the reply code.
func (w *world) socksAsk(kind byte, host []byte, port uint16) (conn *net.TCPConn, code int) {
	conn = dialTCP(w.t, w.proxy)
	request := append([]byte{5, 1, 0, 5, 1, 0, kind}, host...)
	_, _ = conn.Write(binary.BigEndian.AppendUint16(request, port))
	var reply [12]byte
	if _, err := io.ReadFull(conn, reply[:]); err != nil {
		return conn, -1
	}
	return conn, int(reply[3])
}

func domain(name string) []byte { return append([]byte{byte(len(name))}, name...) }

func TestSOCKS(t *testing.T) {
	port := server(t, echo)
	closed := listen(t, "127.0.0.1:0")
	closedPort := portOf(t, closed.Addr().String())
	closed.Close()
	w := newWorld(t, rules(t, []string{"example.com", "gone.test", "127.0.0.1", "::1"}, nil), nil)
	w.book.names["example.com"] = [][]string{{"127.0.0.1"}}
	handed, _, _ := w.Table().Assign("example.com")
	for name, c := range map[string]struct {
		kind byte
		host []byte
		port uint16
		code int
	}{
		"domain":            {3, domain("example.com"), port, 0},
		"ipv4":              {1, []byte{127, 0, 0, 1}, port, 0},
		"handed out":        {1, handed.AsSlice(), port, 0},
		"literal as domain": {3, domain("127.0.0.1"), port, 0},
		"not listed":        {3, domain("evil.test"), port, 2},
		"private":           {1, []byte{10, 0, 0, 1}, port, 2},
		"mapped private":    {4, netip.MustParseAddr("::ffff:10.0.0.1").AsSlice(), port, 2},
		"not handed out":    {1, []byte{127, 18, 9, 9}, port, 2},
		"no host":           {3, domain("exa mple.com"), port, 2},
		"empty":             {3, domain(""), port, 2},
		"no such name":      {3, domain("gone.test"), port, 4},
		"nobody listens":    {1, []byte{127, 0, 0, 1}, closedPort, 5},
	} {
		conn, code := w.socksAsk(c.kind, c.host, c.port)
		if code != c.code {
			t.Errorf("%s: reply %d, want %d", name, code, c.code)
		}
		if code == 0 {
			if got, err := say(t, conn, "x"); err != nil || got != "hello x" {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
	}
}

// TestOtherProtocols: what is neither HTTP nor SOCKS5 is refused or hung up
// on, and never dialled.
func TestOtherProtocols(t *testing.T) {
	dialled := &dials{}
	w := newWorld(t, rules(t, []string{"*"}, nil), func(c *Config) { c.Dialer = dialled })
	for _, text := range []string{"\x04\x01\x00\x50\x08\x08\x08\x08\x00", "\x16\x03\x01\x00\x05hello", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "SSH-2.0-x\r\n", "\x00", "\n"} {
		got, _ := say(t, dialTCP(t, w.proxy), text)
		if got != "" && !strings.HasPrefix(got, "HTTP/1.1 400 ") {
			t.Errorf("%q: %q", text, got)
		}
	}
	if all := dialled.all(); len(all) > 0 {
		t.Errorf("dialled %v", all)
	}
}

// TestNoCredentialsAreProposed: the body of a refusal does not say how to open
// the service that gives a machine its credentials, whether the client asked for
// its address or for a name that resolves to it. Other special addresses are
// proposed.
func TestNoCredentialsAreProposed(t *testing.T) {
	w := newWorld(t, rules(t, []string{"meta.test", "private.test"}, nil), nil)
	w.book.names["meta.test"] = [][]string{{"169.254.169.254"}}
	w.book.names["private.test"] = [][]string{{"10.0.0.7"}}
	for host, want := range map[string]string{
		"169.254.169.254": "", "169.254.170.2": "", "[fd00:ec2::254]": "", "[64:ff9b::a9fe:a9fe]": "", "2852039166": "", "meta.test": "",
		"10.0.0.7": "10.0.0.7:80", "private.test": "10.0.0.7:80", "169.254.1.1": "169.254.1.1:80",
	} {
		conn, head := w.connect(host + ":80")
		body, err := io.ReadAll(conn)
		if reason(head) != rule.DeniedAddress || err != nil {
			t.Errorf("%s: %s %v", host, head, err)
		}
		got := refusalBody{}
		if err := json.Unmarshal(body, &got); err != nil || got.Remedy != want || want == "" && strings.Contains(string(body), "remedy") {
			t.Errorf("%s: %s, %v", host, body, err)
		}
	}
	for _, e := range w.ledger.all() {
		if strings.HasPrefix(e.Remedy, "169.254.169") {
			t.Errorf("%+v", e)
		}
	}
}
