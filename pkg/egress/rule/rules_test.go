package rule

import (
	"net/netip"
	"slices"
	"testing"
)

func mustSet(t testing.TB, patterns ...string) Set {
	t.Helper()
	s, err := ParseSet(patterns)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustHost(t testing.TB, s string) Host {
	t.Helper()
	h, err := ParseHost(s)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestPortsOf(t *testing.T) {
	for _, c := range []struct {
		allow, deny []string
		ports       []uint16
		want        []uint16
	}{
		{[]string{"a.example"}, nil, []uint16{80, 443}, []uint16{80, 443}},
		{[]string{"a.example:22", "*.example", "other.example:9"}, nil, []uint16{80, 443}, []uint16{22, 80, 443}},
		{[]string{"a.example"}, []string{"*:80"}, []uint16{80, 443}, []uint16{443}},
		{[]string{"other.example"}, nil, []uint16{80, 443}, []uint16{}},
		{[]string{"a.example"}, nil, nil, nil},
	} {
		r := Rules{Allow: mustSet(t, c.allow...), Deny: mustSet(t, c.deny...), Ports: c.ports}
		if got := r.PortsOf(mustHost(t, "a.example")); !slices.Equal(got, c.want) {
			t.Errorf("%v %v: %v, want %v", c.allow, c.deny, got, c.want)
		}
	}
}

// TestResolvedRemedy: the remedy for an address of an allowed name opens it at a
// port at which the name is allowed.
func TestResolvedRemedy(t *testing.T) {
	at := netip.MustParseAddr("10.0.0.7")
	for allowed, want := range map[string]string{"db.example": "10.0.0.7", "db.example:443": "10.0.0.7", "db.example:5432": "10.0.0.7:5432"} {
		r := Rules{Allow: mustSet(t, allowed), Ports: []uint16{80, 443}}
		v := r.Resolved(mustHost(t, "db.example"), at)
		if v.Allowed || v.Remedy != want {
			t.Errorf("%s: %+v, want %s", allowed, v, want)
		}
		r.Allow = mustSet(t, allowed, v.Remedy)
		if v := r.Resolved(mustHost(t, "db.example"), at); !v.Allowed {
			t.Errorf("%s, with the remedy: %+v", allowed, v)
		}
	}
}

func TestDestination(t *testing.T) {
	for _, c := range []struct {
		allow, deny []string
		ports       []uint16
		host        string
		port        uint16
		want        Verdict
	}{
		{nil, nil, nil, "example.com", 443, Verdict{Reason: NotAllowed, Remedy: "example.com:443"}},
		{[]string{}, nil, nil, "127.0.0.1", 443, Verdict{Reason: DeniedAddress, Class: "loopback", Remedy: "127.0.0.1:443"}},
		{[]string{"*"}, nil, nil, "example.com", 1, Verdict{Allowed: true, Rule: "*"}},
		{[]string{"*"}, nil, nil, "8.8.8.8", 1, Verdict{Allowed: true, Rule: "*"}},
		{[]string{"*"}, nil, nil, "10.0.0.1", 1, Verdict{Reason: DeniedAddress, Class: "private", Remedy: "10.0.0.1:1"}},
		{[]string{"*"}, nil, nil, "localhost", 1, Verdict{Reason: NotAllowed, Remedy: "localhost:1"}},
		{[]string{"*"}, nil, nil, "db.localhost", 1, Verdict{Reason: NotAllowed, Remedy: "db.localhost:1"}},
		{[]string{"localhost:1"}, nil, nil, "localhost", 1, Verdict{Allowed: true, Rule: "localhost:1"}},
		{[]string{"localhost:1"}, nil, nil, "127.0.0.1", 1, Verdict{Reason: DeniedAddress, Class: "loopback", Remedy: "127.0.0.1:1"}},
		{[]string{"0.0.0.0/0", "::/0"}, nil, nil, "169.254.169.254", 80, Verdict{Reason: DeniedAddress, Class: "metadata service"}},
		{[]string{"169.254.0.0/16"}, nil, nil, "169.254.169.254", 80, Verdict{Reason: DeniedAddress, Class: "metadata service"}},
		{[]string{"169.254.169.254"}, nil, nil, "169.254.169.254", 80, Verdict{Allowed: true, Rule: "169.254.169.254"}},
		{[]string{"::/0"}, nil, nil, "64:ff9b::7f00:1", 80, Verdict{Reason: DeniedAddress, Class: "loopback", Remedy: "[64:ff9b::7f00:1]:80"}},
		{[]string{"::/0"}, nil, nil, "64:ff9b::808:808", 80, Verdict{Allowed: true, Rule: "::/0"}},
		{[]string{"2002::/16"}, nil, nil, "2002:808:808::", 80, Verdict{Allowed: true, Rule: "2002::/16"}},
		{[]string{"2002::/16"}, nil, nil, "2002:a00:1::", 80, Verdict{Reason: DeniedAddress, Class: "private", Remedy: "[2002:a00:1::]:80"}},
		{[]string{"*"}, []string{"*"}, nil, "example.com", 1, Verdict{Reason: Denied, Rule: "*"}},
		{[]string{"localhost"}, []string{"*"}, nil, "localhost", 1, Verdict{Reason: Denied, Rule: "*"}},
		{[]string{"example.com"}, []string{"example.com:22"}, nil, "example.com", 22, Verdict{Reason: Denied, Rule: "example.com:22"}},
		{[]string{"example.com"}, []string{"example.com:22"}, nil, "example.com", 23, Verdict{Allowed: true, Rule: "example.com"}},
		{[]string{"example.com:443"}, nil, nil, "example.com", 80, Verdict{Reason: NotAllowed, Remedy: "example.com:80"}},
		{[]string{"example.com"}, nil, []uint16{80, 443}, "example.com", 443, Verdict{Allowed: true, Rule: "example.com"}},
		{[]string{"example.com"}, nil, []uint16{80, 443}, "example.com", 22, Verdict{Reason: NotAllowed, Remedy: "example.com:22"}},
		{[]string{"example.com:22"}, nil, []uint16{80, 443}, "example.com", 22, Verdict{Allowed: true, Rule: "example.com:22"}},
		{[]string{"example.com"}, nil, []uint16{}, "example.com", 443, Verdict{Reason: NotAllowed, Remedy: "example.com:443"}},
		{[]string{"64:ff9b::/96"}, []string{"8.0.0.0/8"}, nil, "64:ff9b::808:808", 1, Verdict{Reason: Denied, Rule: "8.0.0.0/8"}},
	} {
		r := Rules{Allow: mustSet(t, c.allow...), Deny: mustSet(t, c.deny...), Ports: c.ports}
		if got := r.Destination(mustHost(t, c.host), c.port); got != c.want {
			t.Errorf("%v %v %v: %s:%d: %+v, want %+v", c.allow, c.deny, c.ports, c.host, c.port, got, c.want)
		}
	}
	if v := (Rules{Allow: mustSet(t, "*")}).Destination(Host{}, 1); v.Allowed {
		t.Error("no host is allowed")
	}
}

// TestRemedyWorks: the pattern that a refusal names lets the destination
// through when it is added, and only a deny pattern and an address that gives
// credentials leave none.
func TestRemedyWorks(t *testing.T) {
	base := tableRules(t)
	for _, row := range spellings(t) {
		h, err := ParseHost(row.text)
		if err != nil {
			continue
		}
		v := base.Destination(h, 443)
		if v.Allowed || v.Reason == Denied || v.Class == Metadata {
			if v.Remedy != "" {
				t.Errorf("%s: %+v", h, v)
			}
			continue
		}
		more := Rules{Allow: base.Allow.Union(mustSet(t, v.Remedy)), Deny: base.Deny}
		if got := more.Destination(h, 443); !got.Allowed {
			t.Errorf("%s: not allowed by its remedy %s: %+v", h, v.Remedy, got)
		}
		if got := more.Destination(h, 444); got.Allowed {
			t.Errorf("%s: the remedy %s opens another port", h, v.Remedy)
		}
	}
}

func TestAddress(t *testing.T) {
	r := Rules{
		Allow: mustSet(t, "example.com:443", "db.corp", "10.0.0.5:5432", "localhost:1", "*.localhost:2", "*:9"),
		Deny:  mustSet(t, "192.0.2.1", "203.0.113.0/24:443"),
	}
	for _, c := range []struct {
		host, addr string
		port       uint16
		want       Reason
	}{
		{"example.com", "93.184.216.34", 443, ""},
		{"example.com", "93.184.216.34", 80, NotAllowed},
		{"example.com", "127.0.0.1", 443, DeniedAddress},
		{"example.com", "::1", 443, DeniedAddress},
		{"example.com", "::ffff:127.0.0.1", 443, DeniedAddress},
		{"example.com", "64:ff9b::7f00:1", 443, DeniedAddress},
		{"example.com", "169.254.169.254", 443, DeniedAddress},
		{"example.com", "fe80::1%eth0", 443, DeniedAddress},
		{"example.com", "198.18.0.1", 443, DeniedAddress},
		{"example.com", "10.0.0.5", 443, DeniedAddress},
		{"example.com", "192.0.2.1", 443, Denied},
		{"example.com", "203.0.113.9", 443, Denied},
		{"db.corp", "10.0.0.5", 5432, ""},
		{"db.corp", "10.0.0.5", 5433, DeniedAddress},
		{"db.corp", "10.0.0.6", 5432, DeniedAddress},
		{"localhost", "127.0.0.1", 1, ""},
		{"localhost", "::1", 1, ""},
		{"localhost", "10.0.0.1", 1, DeniedAddress},
		{"localhost", "127.0.0.1", 9, NotAllowed},
		{"a.localhost", "127.0.0.1", 2, ""},
		{"a.localhost", "127.0.0.1", 1, NotAllowed},
		{"other.example", "8.8.8.8", 9, ""},
		{"other.example", "127.0.0.1", 9, DeniedAddress},
	} {
		got := r.Address(mustHost(t, c.host), netip.MustParseAddr(c.addr), c.port)
		if got.Reason != c.want || got.Allowed != (c.want == "") {
			t.Errorf("%s at %s:%d: %+v, want %q", c.host, c.addr, c.port, got, c.want)
		}
	}
}

func TestQuery(t *testing.T) {
	r := Rules{Allow: mustSet(t, "example.com:22", "*.wild.example"), Deny: mustSet(t, "bad.wild.example", "half.wild.example:22")}
	for name, want := range map[string]Reason{
		"example.com": "", "a.wild.example": "", "half.wild.example": "",
		"bad.wild.example": Denied, "wild.example": NotAllowed, "evil.test": NotAllowed,
	} {
		if got := r.Query(mustHost(t, name)); got.Reason != want || got.Allowed != (want == "") {
			t.Errorf("%s: %+v, want %q", name, got, want)
		}
	}
}

// The universe of the properties: few enough that chance meets every relation.
var (
	somePatterns = []string{"*", "*:443", "example.com", "*.example.com", "a.example.com", "*.a.example.com:443", "EXAMPLE.com.:443",
		"localhost", "*.localhost", "a.localhost:80", "0.0.0.0/0", "::/0", "10.0.0.0/8", "8.0.0.0/5", "10.1.2.3", "10.1.2.3:80",
		"169.254.0.0/16", "169.254.169.254", "168.0.0.0/5:80", "::1", "[::1]:443", "fd00::/8", "64:ff9b::/96", "64:ff9b::a00:0/104",
		"2002::/16", "2002:a00::/24", "8.8.8.8", "2000::/3"}
	someHosts = []string{"example.com", "a.example.com", "b.a.example.com", "other.test", "localhost", "a.localhost", "10.1.2.3", "10.2.3.4",
		"8.8.8.8", "169.254.1.1", "169.254.169.254", "::1", "fd00::1", "64:ff9b::a01:203", "64:ff9b::808:808", "2002:a00:1::", "2002:808:808::", "2606::1"}
	somePorts = []uint16{22, 80, 443}
)

// TestCovers: a pattern that covers another grants all that the other grants.
func TestCovers(t *testing.T) {
	all := mustSet(t, somePatterns...)
	for _, p := range all {
		for _, q := range all {
			outside := ""
			for _, text := range someHosts {
				for _, port := range somePorts {
					h := mustHost(t, text)
					if (Rules{Allow: Set{q}}).Destination(h, port).Allowed && !(Rules{Allow: Set{p}}).Destination(h, port).Allowed {
						outside = h.JoinPort(port)
					}
				}
			}
			if p.Covers(q) && outside != "" {
				t.Errorf("%v covers %v but not %s", p, q, outside)
			}
			if m, ok := p.Meet(q); ok && !(p.Covers(m) && q.Covers(m)) {
				t.Errorf("%v meets %v in %v, beyond one of them", p, q, m)
			}
		}
	}
}

func TestSets(t *testing.T) {
	got := mustSet(t, "a.example.com", "evil.test", "10.0.0.0/8").Beyond(mustSet(t, "*.example.com", "*")).Strings()
	if want := []string{"10.0.0.0/8"}; !slices.Equal(got, want) {
		t.Errorf("beyond: %v, want %v", got, want)
	}
	if got := mustSet(t, "b", "a", "A.", "a:1").Strings(); !slices.Equal(got, []string{"a", "a:1", "b"}) {
		t.Errorf("normal form: %v", got)
	}
}

func TestClassify(t *testing.T) {
	for addr, want := range map[string]Class{
		"8.8.8.8": "", "2606:2800::1": "", "64:ff9b::808:808": "", "::ffff:8.8.8.8": "",
		"127.8.9.1": "loopback", "0.0.0.0": "unspecified", "192.0.0.192": "metadata service", "192.0.0.191": "reserved",
		"169.254.169.253": "link-local", "2001:4::1": "reserved", "2001:200::1": "", "2002:808:808::": "6to4",
		"2002:7f00:1::": "loopback", "fe80::1%eth0": "link-local", "255.255.255.255": "broadcast",
	} {
		if got := Classify(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %q, want %q", addr, got, want)
		}
	}
}

func BenchmarkDestination(b *testing.B) {
	r := Rules{Allow: mustSet(b, somePatterns...)}
	for b.Loop() {
		h, err := ParseHost("Registry.npmjs.org")
		if err != nil {
			b.Fatal(err)
		}
		r.Destination(h, 443)
	}
}
