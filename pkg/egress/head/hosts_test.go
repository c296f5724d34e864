package head

import (
	"slices"
	"testing"
)

func TestHosts(t *testing.T) {
	for text, want := range map[string]struct {
		hosts []string
		ended bool
	}{
		"":                                   {nil, false},
		"GE":                                 {nil, false},
		"GET / HTTP/1.1":                     {nil, false},
		"GET / HTTP/1.1\r\n":                 {nil, false},
		"GET / HTTP/1.1\r\n\r\n":             {nil, true},
		"GET / HTTP/1.1\r\nHost: a.test":     {nil, false},
		"GET / HTTP/1.1\r\nHost: a.test\r\n": {[]string{"a.test"}, false},
		"GET / HTTP/1.1\r\nX: y\r\nHost: a.test\r\n\r\nHost: b":   {[]string{"a.test"}, true},
		"\r\nGET / HTTP/1.1\nhOST \t:a.test:80\n\n":               {[]string{"a.test:80"}, true},
		"GET / HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n":  {[]string{"a.test", "b.test"}, true},
		"GET / HTTP/1.1\r\nHost:\r\n a.test\r\nX: y\r\n z\r\n":    {[]string{"a.test"}, false},
		"GET http://b.test/x HTTP/1.0\r\n\r\n":                    {[]string{"b.test"}, true},
		"GET  HTTP://b.test HTTP/1.1\r\nHost: a.test\r\n\r\n":     {[]string{"b.test", "a.test"}, true},
		"GET http:////u@b.test:80/x HTTP/1.1\r\nHost: a.test\r\n": {[]string{"u@b.test:80", "a.test"}, false},
		"GET /?u=http://b.test HTTP/1.1\r\nHost: a.test\r\n\r\n":  {[]string{"a.test"}, true},
		"SSH-2.0-x\r\n":        {nil, true},
		"PRI * HTTP/2.0\r\n":   {nil, true},
		"\x00\x01":             {nil, true},
		"hello world\r\n":      {nil, true},
		"EHLO a.test\r\n":      {nil, true},
		"{\"a\": 1}\r\n":       {nil, true},
		"GET / HTTP/1.1\n\r\n": {nil, true},
	} {
		if hosts, ended := Hosts([]byte(text)); !slices.Equal(hosts, want.hosts) || ended != want.ended {
			t.Errorf("%q: %q %v, want %+v", text, hosts, ended, want)
		}
	}
}
