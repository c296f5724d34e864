package capability

import (
	"slices"
	"strings"
	"testing"

	"ethos/pkg/record"
)

func TestPathAccess(t *testing.T) {
	c := record.Capabilities{
		ReadPaths:           []string{"~/.gitconfig?", "./vendor", "/opt"},
		WritePaths:          []string{"."},
		DenyReadPaths:       []string{"~", "/opt/secret", "./private"},
		AllowReadWithinDeny: []string{"/opt/secret/public"},
		DenyWritePaths:      []string{".git", "."},
	}
	for probe, want := range map[string]Access{
		"/etc":                  {Base, Base},
		"/h":                    {Denied, Denied},
		"/h/.ssh/id":            {Denied, Denied},
		"/h/.gitconfig":         {Granted, Base},   // more specific than the deny of ~
		"/w/x":                  {Granted, Denied}, // deny_write of the same directory holds over write
		"/w/vendor/y":           {Granted, Denied},
		"/w/.git/config":        {Granted, Denied},
		"/w/private/z":          {Denied, Denied},
		"/opt/lib":              {Granted, Base},
		"/opt/secret/k":         {Denied, Denied},
		"/opt/secret/public/k":  {Granted, Base}, // lifted; granted by /opt
		"/opt/secretly":         {Granted, Base}, // a prefix of the name is not below
		"/w/../h/.gitconfig":    {Granted, Base},
		"/opt/secret/public/..": {Denied, Denied},
	} {
		if have := PathAccess(space, c, probe); have != want {
			t.Errorf("%s: have %v, want %v", probe, have, want)
		}
	}
}

func TestDomains(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want string // "" is nothing
	}{
		{"example.com", "EXAMPLE.com.", "example.com"},
		{"*.example.com", "example.com", ""}, // not the apex
		{"*.example.com", "a.b.example.com", "a.b.example.com"},
		{"*.example.com", "notexample.com", ""},
		{"*.example.com", "*.a.example.com", "*.a.example.com"},
		{"*.example.com:443", "a.example.com", "a.example.com:443"},
		{"a.example.com:80", "*.example.com:443", ""},
		{"*", "1.1.1.1", "1.1.1.1"},
		{"*", "10.0.0.1", ""}, // special blocks are opened by name only
		{"*", "localhost:5432", ""},
		{"0.0.0.0/0", "127.0.0.1:80", ""},
		{"*", "169.254.169.254", ""},
		{"*.bücher.example", "a.xn--bcher-kva.example", "a.xn--bcher-kva.example"},
		{"64:ff9b::/96", "64:ff9b::7f00:1", ""}, // embeds 127.0.0.1
		{"exa mple.com", "exa mple.com", ""},    // means nothing, so it allows nothing
		{"10.0.0.0/8", "10.2.3.4:443", "10.2.3.4:443"},
		{"10.0.0.0/8", "10.2.3.4:22", ""}, // without a port it stands for 80 and 443
		{"10.0.0.0/8", "10.2.0.0/16", "10.2.0.0/16"},
		{"10.0.0.0/8", "::ffff:10.0.0.1", "10.0.0.1"},
		{"10.0.0.0/8", "11.0.0.1", ""},
		{"::1", "[::1]:443", "[::1]:443"},
		{"fd00::/8", "fd12::1", "fd12::1"},
		{"example.com", "10.0.0.1", ""},
	} {
		want := []string{}
		if c.want != "" {
			want = []string{c.want}
		}
		if have := meetDomains([]string{c.a}, []string{c.b}); !slices.Equal(have, want) {
			t.Errorf("%s and %s: have %q, want %q", c.a, c.b, have, want)
		}
		if have := meetDomains([]string{c.b}, []string{c.a}); !slices.Equal(have, want) {
			t.Errorf("%s and %s: have %q, want %q", c.b, c.a, have, want)
		}
	}
}

// TestUnreadableDomains: a pattern that means nothing neither covers another
// nor is covered, and a deny of it is not lost unseen.
func TestUnreadableDomains(t *testing.T) {
	for _, c := range []struct {
		list, limit []string
		want        []string
	}{
		{[]string{"https://example.com"}, []string{"*"}, []string{"https://example.com"}},
		{[]string{"https://example.com"}, []string{"https://example.com"}, nil},
		{[]string{"example.com"}, []string{"*:"}, []string{"example.com"}},
		{[]string{"example.com"}, []string{"*.com", "EXAMPLE.com."}, nil},
	} {
		if have := beyond(c.list, c.limit); !slices.Equal(have, c.want) {
			t.Errorf("%q beyond %q: %q, want %q", c.list, c.limit, have, c.want)
		}
	}
}

// TestBadDomainsAreRefused wherever somebody writes one.
func TestBadDomainsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"https://example.com": "write a host name or an address, not a URL",
		"010.0.0.1":           "write the address as 8.0.0.1",
		"ex*mple.com":         "a star stands for whole labels",
		"10.1.0.0/8":          "write 10.0.0.0/8",
		"user@example.com":    "not a URL",
	} {
		for _, flag := range []string{"allow-domain", "deny-domain"} {
			var a Asked
			if err := a.Flag(flag, "example.org,"+text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), flag) {
				t.Errorf("--%s %s: %v", flag, text, err)
			}
		}
		s, _ := Profile(DefaultProfile)
		if err := Grant(&s, "domain="+text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--grant domain=%s: %v", text, err)
		}
	}
	var a Asked
	if err := a.Flag("deny-domain", "a.example.com,10.0.0.0/8"); err != nil || len(a.Network.DenyDomains) != 2 {
		t.Errorf("%q, %v", a.Network.DenyDomains, err)
	}
}

// TestLoopbackNeedsItsPort: the host's loopback is opened one port at a time,
// whatever it is called; a deny may take all of it.
func TestLoopbackNeedsItsPort(t *testing.T) {
	for text, want := range map[string]string{ // "" is valid
		"localhost:5432": "", "127.0.0.1:5432": "", "[::1]:5432": "", "app.localhost:3000": "", "*": "", "0.0.0.0/0": "",
		"localhost": "name the port of one, such as localhost:5432", "LocalHost.": "name the port", "127.0.0.1": "name the port", "::1": "name the port",
		"*.localhost": "name the port", "127.0.0.0/8": "name the port", "::ffff:127.0.0.1": "name the port", "0.0.0.0": "name the port",
		"127.0.0.0/8:5432": "write localhost:5432", "0.0.0.0:80": "write localhost:80", "[::]:80": "write localhost:80", "0.0.0.0/8:80": "write localhost:80",
		"localhost:0": "a port is a number", "localhost:http": "a port is a number",
	} {
		var a Asked
		s, _ := Profile(AgentProfile)
		for by, err := range map[string]error{"check": CheckDomain(text), "flag": a.Flag("allow-domain", text), "grant": Grant(&s, "domain="+text)} {
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s %s: %v, want %q", by, text, err, want)
			}
		}
		if err := a.Flag("deny-domain", text); (err != nil) != strings.HasPrefix(want, "a port") {
			t.Errorf("deny %s: %v", text, err)
		}
	}
	base, _ := Profile(AgentProfile)
	more := Clone(base)
	if err := Grant(&more, "domain=localhost:5432"); err != nil || more.Network.Mode != "proxy" {
		t.Fatalf("%+v, %v", more.Network, err)
	}
	if len(Widens(Anywhere, base, more)) == 0 {
		t.Error("a port of the host's loopback is no widening")
	}
	wide := Clone(more)
	wide.Network.AllowDomains = []string{"*", "0.0.0.0/0", "::/0", "*.example.com", "localhost:5433"}
	if len(Widens(Anywhere, wide, more)) == 0 {
		t.Error("a wide list covers a port of the host's loopback")
	}
}
