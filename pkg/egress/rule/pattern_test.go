package rule

import (
	"errors"
	"strings"
	"testing"
)

func TestParsePattern(t *testing.T) {
	for text, want := range map[string]string{
		"example.com":               "example.com",
		"EXAMPLE.com.":              "example.com",
		"EXAMPLE.com.:443":          "example.com:443",
		"*.Example.com":             "*.example.com",
		"*.bücher.example:80":       "*.xn--bcher-kva.example:80",
		"*":                         "*",
		"*:443":                     "*:443",
		"localhost:5432":            "localhost:5432",
		"10.0.0.0/8":                "10.0.0.0/8",
		"10.0.0.0/8:22":             "10.0.0.0/8:22",
		"192.0.2.1":                 "192.0.2.1",
		"192.0.2.1/32":              "192.0.2.1",
		"192.0.2.1:80":              "192.0.2.1:80",
		"::1":                       "::1",
		"[::1]":                     "::1",
		"[::1]:443":                 "[::1]:443",
		"FD00::/8":                  "fd00::/8",
		"[fd00::/8]:443":            "[fd00::/8]:443",
		"::ffff:10.0.0.1":           "10.0.0.1",
		"::ffff:10.0.0.0/104":       "10.0.0.0/8",
		"0.0.0.0/0":                 "0.0.0.0/0",
		"::/0":                      "::/0",
		"_dmarc.example.com":        "_dmarc.example.com",
		"r3---sn-abc.gvt1.com":      "r3---sn-abc.gvt1.com",
		"xn--bcher-kva.example:443": "xn--bcher-kva.example:443",
	} {
		p, err := ParsePattern(text)
		if err != nil || p.String() != want {
			t.Errorf("%q: %v, %v, want %s", text, p, err, want)
			continue
		}
		if again, err := ParsePattern(p.String()); err != nil || again != p {
			t.Errorf("%q: %q reads as %v, %v", text, p.String(), again, err)
		}
	}
}

// TestRefusedPatterns: a pattern that a person could mean otherwise is an
// error that says what to write.
func TestRefusedPatterns(t *testing.T) {
	for text, reason := range map[string]string{
		"":                        "empty",
		"*.":                      "empty",
		"**.example.com":          "whole labels",
		"ex*mple.com":             "whole labels",
		"example.*":               "whole labels",
		"*.*.example.com":         "whole labels",
		"https://example.com":     "not a URL",
		"user@example.com":        "not a URL",
		"example.com/path":        "no path",
		"example.com:0":           "port",
		"example.com:":            "port",
		"example.com:65536":       "port",
		"example.com:+80":         "port",
		"example.com:080":         "port",
		"example.com:http":        "port",
		"example.com:80-90":       "port",
		"*:*":                     "port",
		"*.10.0.0.1":              "not before an address",
		"010.0.0.1":               "write the address as 8.0.0.1",
		"0x7f.1":                  "write the address as 127.0.0.1",
		"2130706433":              "write the address as 127.0.0.1",
		"127.1":                   "write the address as 127.0.0.1",
		"127.0.0.1.":              "write the address as 127.0.0.1",
		"１２７.0.0.1":               "write the address as 127.0.0.1",
		"10.1.2.3/8":              "write 10.0.0.0/8",
		"10.0.0.0/33":             "neither",
		"10.0.0.0/08":             "neither",
		"0x0a.0.0.0/8":            "neither",
		"fe80::1%eth0":            "zone",
		"::ffff:0:0/90":           "write ::ffc0:0:0/90",
		"[10.0.0.1]:80":           "IPv6",
		"[example.com]:80":        "IPv6",
		"a b.example":             "letters",
		"example..com":            "empty label",
		"256.1.1.1":               "not an IPv4 address",
		"ex\x00ample.com":         "letters",
		"xn--example-.com":        "internationalized",
		strings.Repeat("a", 2000): "too long",
	} {
		p, err := ParsePattern(text)
		var parse *ParseError
		if !errors.As(err, &parse) || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %v, %v, want %q", text, p, err, reason)
		}
	}
}

func FuzzParsePattern(f *testing.F) {
	for _, row := range spellings(f) {
		f.Add(row.text)
		f.Add("*." + row.text + ":443")
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePattern(text)
		if err != nil {
			return
		}
		if q, err := ParsePattern(p.String()); err != nil || q != p {
			t.Errorf("%q: %q reads as %v, %v", text, p.String(), q, err)
		}
		if !p.Covers(p) {
			t.Errorf("%q does not cover itself", text)
		}
	})
}

func TestLoopbackPatterns(t *testing.T) {
	for text, want := range map[string]bool{
		"localhost": true, "localhost:5432": true, "LOCALHOST.": true, "*.localhost:80": true, "app.localhost": true, "127.0.0.1:80": true, "127.0.0.0/8": true,
		"::1": true, "0.0.0.0:80": true, "::ffff:127.0.0.1": true, "64:ff9b::7f00:1": true,
		"*": false, "0.0.0.0/0": false, "::/0": false, "localhost.example": false, "10.0.0.0/8": false, "example.com": false,
	} {
		p, err := ParsePattern(text)
		if err != nil || p.Loopback() != want {
			t.Errorf("%s: %t, %v", text, !want, err)
		}
	}
}
