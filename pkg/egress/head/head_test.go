package head

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

func TestRead(t *testing.T) {
	const whole = "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n"
	for _, rest := range []string{"", "body", "\r\n\r\n", strings.Repeat("x", 100_000)} {
		for _, r := range []io.Reader{strings.NewReader(whole + rest), iotest.OneByteReader(strings.NewReader(whole + rest))} {
			raw, got, err := Read(r, Limit)
			left, _ := io.ReadAll(r)
			if err != nil || string(raw) != whole || string(got)+string(left) != rest {
				t.Errorf("%q %q, %v", raw, got, err)
			}
		}
	}
	for text, want := range map[string]error{
		"":                        io.EOF,
		"GET":                     io.ErrUnexpectedEOF,
		"GET / HTTP/1.1\n":        ErrMalformed,
		"GET / HTTP/1.1\r\n\n":    ErrMalformed,
		"\n":                      ErrMalformed,
		"GET /\rHost: a":          ErrMalformed,
		"a\r\r\n\r\n":             ErrMalformed,
		strings.Repeat("a", 9000): ErrTooLong,
		"GET / HTTP/1.1\r\nA: " + strings.Repeat("a", Limit) + "\r\n\r\n": ErrTooLong,
	} {
		if raw, _, err := Read(strings.NewReader(text), Limit); !errors.Is(err, want) {
			t.Errorf("%.40q: %q, %v, want %v", text, raw, err, want)
		}
	}
	endless := &counting{}
	if _, _, err := Read(endless, Limit); !errors.Is(err, ErrTooLong) || endless.n > 4*Limit {
		t.Errorf("an endless head: %d bytes, %v", endless.n, err)
	}
}

type counting struct{ n int }

func (c *counting) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	c.n += len(p)
	return len(p), nil
}

// smuggled are shapes on which parsers differ; each is an error.
var smuggled = []string{
	"GET http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked",
	"GET http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1",
	"GET http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1",
	"GET http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: +1",
	"GET http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: -1",
	"GET http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1",
	"GET http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1 ;",
	"GET http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length:",
	"GET http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999",
	"GET http://a/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked",
	"GET http://a/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked",
	"GET http://a/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity",
	"GET http://a/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
	"GET http://a/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity",
	"GET http://a/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked",
	"GET http://a/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0bchunked",
	"GET http://a/ HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked",
	"GET http://a/ HTTP/1.1\r\nHost: a\r\nX: y\r\n folded",
	"GET http://a/ HTTP/1.1\r\nHost: a\r\nX: y\r\n\tContent-Length: 5",
	"GET http://a/ HTTP/1.1\r\n Host: a",
	"GET http://a/ HTTP/1.1\r\nHost : a",
	"GET http://a/ HTTP/1.1\r\nHost: a\r\nHost: b",
	"GET http://a/ HTTP/1.1\r\nHost: a\r\nX",
	"GET http://a/ HTTP/1.1\r\nHost: a\r\n: x",
	"GET http://a/ HTTP/1.1\r\nHost: a\r\nX\x00Y: z",
	"GET http://a/ HTTP/1.1\r\nHost: a\r\nX: y\x00z",
	"GET http://a/ HTTP/1.1\r\nHost: a\r\nX: y\x7f",
	"GET http://a/ HTTP/1.1\r\nX: y",
	"GET http://a/ HTTP/1.1",
	"GET  http://a/ HTTP/1.1\r\nHost: a",
	"GET http://a/  HTTP/1.1\r\nHost: a",
	" GET http://a/ HTTP/1.1\r\nHost: a",
	"GET\thttp://a/ HTTP/1.1\r\nHost: a",
	"GET http://a/ HTTP/1.1 \r\nHost: a",
	"GET http://a/ HTTP/1.2\r\nHost: a",
	"GET http://a/ HTTP/2.0\r\nHost: a",
	"GET http://a/ http/1.1\r\nHost: a",
	"GET http://a/",
	"PRI * HTTP/2.0",
	"G(T http://a/ HTTP/1.1\r\nHost: a",
	"GET http://a/\x80 HTTP/1.1\r\nHost: a",
	"GET http://a/\x01 HTTP/1.1\r\nHost: a",
	"\r\nGET http://a/ HTTP/1.1\r\nHost: a",
}

func TestSmuggling(t *testing.T) {
	for _, text := range smuggled {
		if got, err := Parse([]byte(text + "\r\n\r\n")); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	if _, err := Parse([]byte("GET http://a/ HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("X: y\r\n", 101) + "\r\n")); !errors.Is(err, ErrMalformed) {
		t.Errorf("102 fields: %v", err)
	}
}

func TestParse(t *testing.T) {
	const text = "POST http://Example.com:80/p?q=1 HTTP/1.1\r\nhost:\texample.com \r\nX-Empty:\r\nContent-Length: 12\r\n\r\n"
	got, err := Parse([]byte(text))
	if err != nil || got.Method != "POST" || got.Target != "http://Example.com:80/p?q=1" || got.Minor != 1 || got.Host != "example.com" || len(got.Fields) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	if authority, err := got.Authority(); err != nil || authority != "Example.com:80" {
		t.Errorf("%q, %v", authority, err)
	}
	if got, err := Parse([]byte("CONNECT a:443 HTTP/1.0\r\n\r\n")); err != nil || got.Minor != 0 || got.Target != "a:443" {
		t.Errorf("%+v, %v", got, err)
	}
	chunked := "POST http://a/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
	if _, err := Parse([]byte(chunked)); err != nil {
		t.Error(err)
	}
}

func TestAuthority(t *testing.T) {
	for target, want := range map[string]string{
		"http://a/": "a", "HTTP://a": "a", "http://a?q": "a", "http://a:80/x": "a:80", "http://[::1]:8/": "[::1]:8",
		"http://b/": "", "https://a/": "", "/": "", "*": "", "a:80": "", "http:///x": "", "http://u@a/": "", "http://a\\@b/": "",
		"http://a%2e/": "", "http://a/#f": "", "ftp://a/": "", "http:/a/": "", "http:a": "", "//a/": "",
	} {
		host := want
		if host == "" {
			host = "a"
		}
		r := Request{Target: target, Host: host, Minor: 1}
		got, err := r.Authority()
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", target, got, err)
		}
	}
}

// FuzzParse: net/http reads the same request out of what is accepted, and ends
// it in the same place.
func FuzzParse(f *testing.F) {
	for _, text := range smuggled {
		f.Add([]byte(text + "\r\n\r\n"))
	}
	f.Add([]byte("POST http://a:80/p?q HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"))
	f.Fuzz(func(t *testing.T, b []byte) {
		raw, _, err := Read(bytes.NewReader(b), Limit)
		if err != nil {
			return
		}
		got, err := Parse(raw)
		if err != nil {
			return
		}
		authority, err := got.Authority()
		if err != nil {
			return
		}
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
		if err != nil {
			return // stricter still
		}
		if r.Method != got.Method || r.RequestURI != got.Target || r.URL.Host != authority || len(r.TransferEncoding) > 1 {
			t.Errorf("%q: %+v, net/http has %s %s at %s", raw, got, r.Method, r.RequestURI, r.URL.Host)
		}
	})
}
