package capability

import (
	"slices"
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
		{"*", "10.0.0.1", "10.0.0.1"},
		{"10.0.0.0/8", "10.2.3.4:22", "10.2.3.4:22"},
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
