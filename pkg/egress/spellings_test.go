package egress

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"ethos/pkg/egress/dns"
	"ethos/pkg/egress/pool"
	"ethos/pkg/egress/rule"
)

type spelling struct{ text, normal, verdict string }

func spellings(t testing.TB) (rows []spelling) {
	t.Helper()
	data, err := os.ReadFile("testdata/spellings.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 {
			continue
		}
		text, err := strconv.Unquote(fields[0])
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		rows = append(rows, spelling{text, fields[1], fields[2]})
	}
	if len(rows) < 150 {
		t.Fatalf("%d rows", len(rows))
	}
	return rows
}

const public = "93.184.216.34"

// spellingWorld judges by the rules of the table. Every name resolves to one
// public address, and every connection goes to one server.
func spellingWorld(t *testing.T) (*world, *dials) {
	dialled := &dials{to: loop(site(t))}
	r := rules(t, []string{"example.com", "*.wild.example", "bücher.example", public, "192.0.2.0/24", "10.9.0.0/16", "fd12::/16"},
		[]string{"bad.wild.example", "*.worse.wild.example", "192.0.2.66"})
	table, err := pool.New(netip.MustParsePrefix("240.18.0.0/16"), netip.Prefix{}) // none that the table names
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, r, func(c *Config) { c.Dialer, c.Table = dialled, table })
	w.book.any = public
	return w, dialled
}

var reasons = map[rule.Reason]string{"": "allow", rule.NotAllowed: "allowlist", rule.Denied: "denylist", rule.DeniedAddress: "address", BadRequest: "invalid"}

// ordinary reports a text that can stand in a request line.
func ordinary(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`@/?#\`, r) }) && text != ""
}

// authority writes a host for a place where a port follows.
func authority(text string) string {
	if strings.Contains(text, ":") && !strings.HasPrefix(text, "[") {
		return "[" + text + "]"
	}
	return text
}

// TestSpellings sends every spelling of the table through each explicit door:
// the verdict is that of the table, what is allowed is dialled at the judged
// address, and nothing else is dialled at all.
func TestSpellings(t *testing.T) {
	w, dialled := spellingWorld(t)
	doors := map[string]func(text string) (verdict string){
		"connect": func(text string) string {
			conn, head := w.connect(authority(text) + ":443")
			conn.Close()
			return httpVerdict(head)
		},
		"http": func(text string) string {
			conn := dialTCP(t, w.proxy)
			defer conn.Close()
			_, _ = fmt.Fprintf(conn, "GET http://%s:443/ HTTP/1.1\r\nHost: %s:443\r\n\r\n", authority(text), authority(text))
			return httpVerdict(readHead(conn))
		},
		"socks5": func(text string) string {
			if len(text) > 255 {
				return "invalid"
			}
			conn, code := w.socksAsk(3, domain(text), 443)
			conn.Close()
			return map[int]string{0: "allow", 2: "refused"}[code]
		},
	}
	for name, ask := range doors {
		for _, row := range spellings(t) {
			before := len(dialled.all())
			got := ask(row.text)
			want := row.verdict
			switch {
			case name == "socks5" && len(row.text) > 255:
				want = "invalid"
			case name == "socks5" && want != "allow":
				want = "refused"
			case name != "socks5" && !ordinary(row.text), name == "http" && strings.Contains(row.text, "%"):
				want = "invalid" // no such text in a request line, whatever it means
			}
			if got != want {
				t.Errorf("%s %q: %s, want %s", name, row.text, got, want)
			}
			checkDialled(t, row, got, dialled.all()[before:])
		}
	}
}

func httpVerdict(head string) string {
	if r := reason(head); r != "" {
		return reasons[r]
	}
	if strings.HasPrefix(head, "HTTP/1.1 200 ") {
		return "allow"
	}
	return head
}

func checkDialled(t *testing.T, row spelling, verdict string, at []string) {
	t.Helper()
	if verdict != "allow" {
		if len(at) > 0 {
			t.Errorf("%q: refused, and dialled %v", row.text, at)
		}
		return
	}
	want := public
	if _, err := netip.ParseAddr(row.normal); err == nil {
		want = row.normal
	}
	if len(at) != 1 || at[0] != net.JoinHostPort(want, "443") {
		t.Errorf("%q: dialled %v, want %s", row.text, at, want)
	}
}

// TestSpelledQuestions asks the name server for every spelling that a DNS name
// can hold: an address only for what the table allows, and then one that leads
// back to the judged name.
func TestSpelledQuestions(t *testing.T) {
	w, _ := spellingWorld(t)
	asked := 0
	for _, row := range spellings(t) {
		name, err := dnsmessage.NewName(row.text + ".")
		if err != nil {
			continue
		}
		m := dnsmessage.Message{Questions: []dnsmessage.Question{{Name: name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}}}
		query, err := m.Pack()
		if err != nil {
			continue
		}
		var answer dnsmessage.Message
		if err := answer.Unpack(dns.Respond(t.Context(), query, dns.UDP, w.names)); err != nil {
			t.Fatalf("%q: %v", row.text, err)
		}
		asked++
		checkAnswer(t, w, row, answer)
	}
	if asked < 150 {
		t.Errorf("asked for %d names", asked)
	}
}

func checkAnswer(t *testing.T, w *world, row spelling, answer dnsmessage.Message) {
	t.Helper()
	local := row.normal == "localhost" || strings.HasSuffix(row.normal, ".localhost")
	want := row.verdict == "allow" || local
	// An IPv6 address has no A record.
	if addr, err := netip.ParseAddr(row.normal); err == nil && addr.Is6() {
		want = false
	}
	if got := len(answer.Answers) == 1; got != want {
		t.Errorf("%q: %v, want an address: %v", row.text, answer, want)
		return
	}
	if !want {
		return
	}
	a, ok := answer.Answers[0].Body.(*dnsmessage.AResource)
	if !ok {
		t.Fatalf("%q: %v", row.text, answer)
	}
	addr := netip.AddrFrom4(a.A)
	meant, err := w.meant(addr, 443)
	if local && addr.IsLoopback() {
		return
	}
	if err != nil || meant.String() != row.normal {
		t.Errorf("%q: %s leads to %s, %v", row.text, addr, meant, err)
	}
}
