package record

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestConnectionDenial(t *testing.T) {
	const notAllowed, words = "denied-by-allowlist", "not in the allow-list"
	for _, test := range []struct {
		name string
		from Connection
		want Denial
	}{
		{"a name and port", Connection{Name: "a.example", Port: 443, Reason: notAllowed, Detail: words, Remedy: "a.example:443"},
			Denial{Layer: "network", What: "a.example:443", Reason: words, Remedy: "--allow-domain a.example:443"}},
		{"a name alone", Connection{Door: DoorDNS, Name: "a.example", Reason: notAllowed, Detail: words, Remedy: "a.example"},
			Denial{Layer: "network", What: "a.example", Reason: words, Remedy: "--allow-domain a.example"}},
		{"a shell would expand the brackets", Connection{Name: "2001:db8::1", Port: 443, Reason: notAllowed, Detail: words, Remedy: "[2001:db8::1]:443"},
			Denial{Layer: "network", What: "[2001:db8::1]:443", Reason: words, Remedy: "--allow-domain '[2001:db8::1]:443'"}},
		{"a deny rule has no remedy", Connection{Name: "b.a.example", Port: 443, Reason: ConnectionDenied, Rule: "*.a.example", Detail: words, Remedy: "b.a.example"},
			Denial{Layer: "network", What: "b.a.example:443", Reason: "the deny rule *.a.example names it"}},
		{"no name", Connection{Door: DoorHTTP, Reason: "bad-request", Detail: "malformed HTTP request"},
			Denial{Layer: "network", What: "a request", Reason: "malformed HTTP request"}},
		{"hidden name", Connection{Name: "a.example", Port: 443, Reason: ConnectionHidden, Detail: "ECH"},
			Denial{Layer: "network", What: "a.example:443", Reason: "ECH", Remedy: "--sni allow"}},
		{"request", Connection{Name: "a.example", Port: 443, Reason: ConnectionRequest, Detail: "no", Remedy: "a.example POST /v1/x"},
			Denial{Layer: "network", What: "a.example:443", Reason: "no", Remedy: "--allow-request 'a.example POST /v1/x'"}},
		{"request with a star", Connection{Name: "a.example", Port: 443, Reason: ConnectionRequest, Detail: "no", Remedy: "a.example POST /*"},
			Denial{Layer: "network", What: "a.example:443", Reason: "no"}},
		{"no words", Connection{Name: "198.18.0.9", Port: 80, Reason: "unknown-address"},
			Denial{Layer: "network", What: "198.18.0.9:80", Reason: "unknown-address"}},
		{"hostile", Connection{Name: "a\x1b]0;x\a\u202e", Port: 1, Reason: "bad-request", Remedy: "x; rm -rf ~"},
			Denial{Layer: "network", What: `a\x1b]0;x\x07\u202e:1`, Reason: "bad-request"}},
	} {
		if diff := cmp.Diff(test.want, test.from.Denial()); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestConnectionRefused(t *testing.T) {
	for reason, want := range map[string]bool{
		"denied-by-allowlist": true, ConnectionDenied: true, "denied-address": true, "a later code": true, "": true,
		ConnectionUnresolved: false, ConnectionUnreachable: false, ConnectionUpstream: false,
		ConnectionOverloaded: false, ConnectionBusy: false, ConnectionInterrupted: false, ConnectionStopped: false,
	} {
		if c := (&Connection{Reason: reason}); c.Refused() != want {
			t.Errorf("%q: refused %t, want %t", reason, c.Refused(), want)
		}
		if c := (&Connection{Reason: reason}); (c.Verdict() == ConnectionEnded) != (reason == ConnectionStopped) {
			t.Errorf("%q: %s", reason, c.Verdict())
		}
		if c := (&Connection{Reason: reason, Allowed: true}); c.Refused() {
			t.Errorf("%q: an allowed connection is refused", reason)
		}
	}
}

// FuzzConnectionDenial: whatever the texts, the denial is short and can be
// printed, and its remedy is one word after the option.
func FuzzConnectionDenial(f *testing.F) {
	f.Add("a.example", "a.example:443", "denied-by-allowlist", "not in the allow-list", "", 443)
	f.Add(strings.Repeat("é\u202e", 5000), strings.Repeat("a", 299)+"é", "", "\xff\x00", "\x1b[2J", -1)
	f.Fuzz(func(t *testing.T, name, remedy, reason, detail, rule string, port int) {
		c := Connection{Name: name, Port: port, Reason: reason, Detail: detail, Rule: rule, Remedy: remedy}
		before := c.Denial()
		c.Cut()
		d := c.Denial()
		if d.Layer != before.Layer || len(name) < maxText && d != before {
			t.Errorf("cut: %+v, before %+v", d, before)
		}
		if n := len(c.Name) + len(c.Rule) + len(c.Detail) + len(c.Remedy); n > 4*(maxText+len("…")) {
			t.Errorf("cut: %d bytes", n)
		}
		for _, text := range []string{d.What, d.Reason, d.Remedy} {
			if len(text) > 8*maxText || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("%d bytes: %q", len(text), text)
			}
		}
		if d.What == "" {
			t.Errorf("%q is not named", name)
		}
	})
}
