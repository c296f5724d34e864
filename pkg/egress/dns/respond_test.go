package dns

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// stub knows four names.
type stub struct{}

var (
	knownV4 = netip.MustParseAddr("198.18.0.1")
	knownV6 = netip.MustParseAddr("100::1")
)

func (stub) Lookup(_ context.Context, name string) Answer {
	switch strings.ToLower(name) {
	case "example.com":
		return Answer{Found, []netip.Addr{knownV4, knownV6}}
	case "many.example":
		var all []netip.Addr
		for i := range 200 {
			all = append(all, netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}))
		}
		return Answer{Found, all}
	case "absent.example":
		return Answer{Status: Absent}
	case "later.example":
		return Answer{Status: Failed}
	}
	return Answer{Status: Blocked}
}

func (stub) Reverse(addr netip.Addr) (string, bool) {
	return "example.com", addr == knownV4 || addr == knownV6
}

// ask builds a query; edns below 0 is none.
func ask(t testing.TB, name string, kind dnsmessage.Type, edns int) []byte {
	t.Helper()
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: 0xbeef, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: kind, Class: dnsmessage.ClassINET}},
	}
	if edns >= 0 {
		var h dnsmessage.ResourceHeader
		if err := h.SetEDNS0(edns, 0, true); err != nil {
			t.Fatal(err)
		}
		m.Additionals = []dnsmessage.Resource{{Header: h, Body: &dnsmessage.OPTResource{}}}
	}
	packed, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

func parse(t testing.TB, response []byte) dnsmessage.Message {
	t.Helper()
	var m dnsmessage.Message
	if err := m.Unpack(response); err != nil {
		t.Fatalf("%x: %v", response, err)
	}
	return m
}

func answers(m dnsmessage.Message) (all []string) {
	for _, r := range m.Answers {
		switch body := r.Body.(type) {
		case *dnsmessage.AResource:
			all = append(all, netip.AddrFrom4(body.A).String())
		case *dnsmessage.AAAAResource:
			all = append(all, netip.AddrFrom16(body.AAAA).String())
		case *dnsmessage.PTRResource:
			all = append(all, body.PTR.String())
		default:
			all = append(all, fmt.Sprintf("%T", body))
		}
	}
	return all
}

func TestRespond(t *testing.T) {
	const (
		reverse4 = "1.0.18.198.in-addr.arpa."
		reverse6 = "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1.0.ip6.arpa."
	)
	for _, c := range []struct {
		name  string
		kind  dnsmessage.Type
		rcode dnsmessage.RCode
		want  []string
	}{
		{"example.com.", dnsmessage.TypeA, 0, []string{"198.18.0.1"}},
		{"eXAmPLe.cOM.", dnsmessage.TypeAAAA, 0, []string{"100::1"}},
		{"example.com.", dnsmessage.TypeALL, 0, []string{"198.18.0.1", "100::1"}},
		{"example.com.", dnsmessage.TypeHTTPS, 0, nil},
		{"example.com.", dnsmessage.TypeSVCB, 0, nil},
		{"example.com.", dnsmessage.TypeSRV, 0, nil},
		{"example.com.", dnsmessage.TypeTXT, 0, nil},
		{"example.com.", dnsmessage.TypeMX, 0, nil},
		{"example.com.", dnsmessage.TypeNS, 0, nil},
		{"example.com.", dnsmessage.TypeSOA, 0, nil},
		{"example.com.", dnsmessage.TypeCNAME, 0, nil},
		{"example.com.", 43, 0, nil},
		{"example.com.", dnsmessage.TypeAXFR, dnsmessage.RCodeRefused, nil},
		{"example.com.", 251, dnsmessage.RCodeRefused, nil},
		{"evil.test.", dnsmessage.TypeA, dnsmessage.RCodeNameError, nil},
		{"evil.test.", dnsmessage.TypeTXT, dnsmessage.RCodeNameError, nil},
		{".", dnsmessage.TypeNS, dnsmessage.RCodeRefused, nil},
		{"absent.example.", dnsmessage.TypeA, dnsmessage.RCodeNameError, nil},
		{"later.example.", dnsmessage.TypeA, dnsmessage.RCodeServerFailure, nil},
		{reverse4, dnsmessage.TypePTR, 0, []string{"example.com."}},
		{reverse6, dnsmessage.TypePTR, 0, []string{"example.com."}},
		{strings.ToUpper(reverse6), dnsmessage.TypePTR, 0, []string{"example.com."}},
		{reverse4, dnsmessage.TypeA, 0, nil},
		{"2.0.18.198.in-addr.arpa.", dnsmessage.TypePTR, dnsmessage.RCodeNameError, nil},
		{"01.0.18.198.in-addr.arpa.", dnsmessage.TypePTR, dnsmessage.RCodeNameError, nil},
		{"0.18.198.in-addr.arpa.", dnsmessage.TypePTR, dnsmessage.RCodeNameError, nil},
	} {
		for _, edns := range []int{-1, 0, 1232, 4096} {
			query := ask(t, c.name, c.kind, edns)
			response := Respond(t.Context(), query, UDP, stub{})
			m := parse(t, response)
			if m.ID != 0xbeef || !m.Response || !m.RecursionDesired || !m.RecursionAvailable || m.RCode != c.rcode || m.Truncated {
				t.Errorf("%s %v: header %+v, want %v", c.name, c.kind, m.Header, c.rcode)
			}
			if got := answers(m); !slices.Equal(got, c.want) {
				t.Errorf("%s %v: %v, want %v", c.name, c.kind, got, c.want)
			}
			question := query[headerLen : headerLen+len(c.name)+1+4]
			if c.name == "." {
				question = query[headerLen : headerLen+5]
			}
			if !bytes.Contains(response, question) {
				t.Errorf("%s: the question did not come back as it was", c.name)
			}
			blocked := c.rcode == dnsmessage.RCodeNameError && !strings.HasPrefix(c.name, "absent.") && !strings.HasPrefix(c.name, "2.0.")
			checkEDNS(t, m, edns >= 0, blocked)
		}
	}
}

func checkEDNS(t *testing.T, m dnsmessage.Message, spoken, blocked bool) {
	t.Helper()
	if !spoken {
		if len(m.Additionals) != 0 {
			t.Errorf("%v: EDNS to a client that speaks none", m.Questions)
		}
		return
	}
	if len(m.Additionals) != 1 {
		t.Fatalf("%v: additionals %v", m.Questions, m.Additionals)
	}
	options := m.Additionals[0].Body.(*dnsmessage.OPTResource).Options
	if got := len(options) == 1 && options[0].Code == 15 && binary.BigEndian.Uint16(options[0].Data) == 15; got != blocked {
		t.Errorf("%v: extended error %v, want %v", m.Questions, options, blocked)
	}
}

func TestTruncation(t *testing.T) {
	for _, c := range []struct {
		transport Transport
		edns, max int
		truncated bool
	}{{UDP, -1, 512, true}, {UDP, 1232, 1232, true}, {UDP, 65535, 1232, true}, {TCP, -1, 65535, false}} {
		response := Respond(t.Context(), ask(t, "many.example.", dnsmessage.TypeA, c.edns), c.transport, stub{})
		m := parse(t, response)
		if len(response) > c.max || m.Truncated != c.truncated || len(m.Answers) > 0 == c.truncated {
			t.Errorf("%+v: %d bytes, %d answers, truncated %v", c, len(response), len(m.Answers), m.Truncated)
		}
	}
}

// TestMalformed: what is no query gets an error or nothing, and never an
// address.
func TestMalformed(t *testing.T) {
	good := ask(t, "example.com.", dnsmessage.TypeA, 1232)
	change := func(edit func(m []byte) []byte) []byte { return edit(bytes.Clone(good)) }
	set := func(at int, value byte) []byte {
		return change(func(m []byte) []byte { m[at] = value; return m })
	}
	optAt := len(good) - 11
	for name, c := range map[string]struct {
		message []byte
		rcode   int // -1 is no response
	}{
		"empty":                  {nil, -1},
		"short header":           {good[:11], -1},
		"a response":             {set(2, 0x81), -1},
		"notify":                 {set(2, 0x20), int(dnsmessage.RCodeNotImplemented)},
		"update":                 {set(2, 0x28), int(dnsmessage.RCodeNotImplemented)},
		"header alone":           {good[:12], int(dnsmessage.RCodeFormatError)},
		"no question":            {set(5, 0), int(dnsmessage.RCodeFormatError)},
		"two questions":          {set(5, 2), int(dnsmessage.RCodeFormatError)},
		"65281 questions":        {set(4, 255), int(dnsmessage.RCodeFormatError)},
		"question cut":           {good[:20], int(dnsmessage.RCodeFormatError)},
		"label too long":         {set(12, 0x3f), int(dnsmessage.RCodeFormatError)},
		"label of unknown kind":  {set(12, 0x80), int(dnsmessage.RCodeFormatError)},
		"pointer to itself":      {change(func(m []byte) []byte { m[12], m[13] = 0xc0, 12; return m }), int(dnsmessage.RCodeFormatError)},
		"pointer ahead":          {change(func(m []byte) []byte { m[12], m[13] = 0xc0, 0xff; return m }), int(dnsmessage.RCodeFormatError)},
		"dot in a label":         {set(16, '.'), int(dnsmessage.RCodeFormatError)},
		"class CH":               {set(28, 3), int(dnsmessage.RCodeRefused)},
		"answers that are none":  {set(7, 1), int(dnsmessage.RCodeFormatError)},
		"a thousand authorities": {set(8, 4), int(dnsmessage.RCodeFormatError)},
		"two OPT":                {change(func(m []byte) []byte { m[11] = 2; return append(m, m[optAt:]...) }), int(dnsmessage.RCodeFormatError)},
		"OPT with a name":        {set(optAt, 1), int(dnsmessage.RCodeFormatError)},
		"OPT data cut":           {set(len(good)-1, 9), int(dnsmessage.RCodeFormatError)},
		"EDNS version 1":         {set(optAt+6, 1), 16},
		"trailing bytes":         {append(bytes.Clone(good), 1, 2, 3), 0},
	} {
		response := Respond(t.Context(), c.message, UDP, stub{})
		if c.rcode < 0 {
			if response != nil {
				t.Errorf("%s: %x", name, response)
			}
			continue
		}
		if response == nil {
			t.Errorf("%s: no response", name)
			continue
		}
		m := parse(t, response)
		rcode := int(m.RCode)
		if len(m.Additionals) == 1 {
			rcode = int(m.Additionals[0].Header.ExtendedRCode(m.RCode))
		}
		if rcode != c.rcode || m.ID != 0xbeef || len(m.Answers) > 0 != (c.rcode == 0) {
			t.Errorf("%s: rcode %d, want %d: %+v", name, rcode, c.rcode, m)
		}
	}
}

func FuzzRespond(f *testing.F) {
	for _, name := range []string{"example.com.", "many.example.", "evil.test.", ".", "1.0.18.198.in-addr.arpa."} {
		for _, edns := range []int{-1, 512, 4096} {
			f.Add(ask(f, name, dnsmessage.TypeA, edns))
		}
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		for _, transport := range []Transport{UDP, TCP} {
			response := Respond(t.Context(), message, transport, stub{})
			if response == nil {
				continue
			}
			m := parse(t, response)
			if !m.Response || m.ID != binary.BigEndian.Uint16(message) || len(response) > int(transport) {
				t.Errorf("%x: %+v", message, m.Header)
			}
			if len(m.Answers) > 0 && len(m.Questions) != 1 {
				t.Errorf("%x: answers without a question", message)
			}
		}
	})
}

func BenchmarkRespond(b *testing.B) {
	query := ask(b, "example.com.", dnsmessage.TypeA, 1232)
	for b.Loop() {
		Respond(b.Context(), query, UDP, stub{})
	}
}
