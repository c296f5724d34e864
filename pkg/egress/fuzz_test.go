package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// nowhere is a dialer that keeps what it is asked for and connects to nothing.
type nowhere struct {
	mu sync.Mutex
	at []string
}

func (d *nowhere) DialContext(_ context.Context, _, address string) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = append(d.at, address)
	return nil, errors.New("nowhere")
}

// FuzzExplicit sends bytes to the explicit proxy. Whatever they are, nothing is
// dialled but the judged address of the one allowed name.
func FuzzExplicit(f *testing.F) {
	for _, text := range []string{
		"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n",
		"CONNECT evil.test:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n",
		"GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"GET http://example.com/ HTTP/1.1\r\nHost: evil.test\r\n\r\n",
		"POST http://example.com/ HTTP/1.1\r\nHost: example.com\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc",
		"\x05\x01\x00\x05\x01\x00\x03\x0bexample.com\x01\xbb", "\x05\x01\x00\x05\x01\x00\x03\x09evil.test\x01\xbb",
		"\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x01\x01\xbb", "\x04\x01\x01\xbb\x7f\x00\x00\x01\x00", "\x16\x03\x01\x00\x05hello",
	} {
		f.Add([]byte(text))
	}
	dialled := &nowhere{}
	w := newWorld(f, rules(f, []string{"example.com:443", "example.com:80"}, nil), func(c *Config) {
		c.Dialer, c.HeadTimeout = dialled, 20*time.Millisecond
	})
	w.book.any = public
	f.Fuzz(func(t *testing.T, b []byte) {
		conn, err := net.Dial("tcp", w.proxy)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, _ = conn.Write(b)
		_ = conn.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, conn)
		dialled.mu.Lock()
		defer dialled.mu.Unlock()
		for _, address := range dialled.at {
			if address != public+":443" && address != public+":80" {
				t.Errorf("%q: dialled %s", b, address)
			}
		}
		dialled.at = nil
	})
}
