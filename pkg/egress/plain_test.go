package egress

import (
	"io"
	"strings"
	"testing"
	"time"

	"ethos/pkg/egress/rule"
)

// TestPlainHost: the first plain request at port 80 reaches the server only if
// it is for the host that was checked. Other protocols and ports, and addresses,
// have no such check.
func TestPlainHost(t *testing.T) {
	const get = "GET / HTTP/1.1\r\n"
	dialled := &dials{to: loop(server(t, echo))}
	for _, c := range []struct {
		at, text string
		want     bool
	}{
		{"example.com:80", get + "Host: example.com\r\n\r\n", true},
		{"example.com:80", get + "Host: Example.COM.:80\r\n\r\n", true},
		{"example.com:80", get + "\r\n", true},
		{"example.com:80", get + "Host:\r\n\r\n", true},
		{"example.com:80", "SSH-2.0-client\r\n", true},
		{"example.com:80", "GET no HTTP\r\nHost: evil.test\r\n\r\n", true},
		{"example.com:81", get + "Host: evil.test\r\n\r\n", true},
		{"93.184.216.34:80", get + "Host: evil.test\r\n\r\n", true},
		{"localhost:80", get + "Host: evil.test\r\n\r\n", true},
		{"example.com:80", get + "X: " + strings.Repeat("x", 20<<10) + "\r\nHost: example.com\r\n\r\n", true},
		{"example.com:80", get + "Host: evil.test\r\n\r\n", false},
		{"example.com:80", get + "X: " + strings.Repeat("x", 20<<10) + "\r\nHost: evil.test\r\n\r\n", false},
		{"example.com:80", get + "Host: evil.test\r\n", false}, // and no more
		{"example.com:80", get + "Host: evil.test", false},
		{"example.com:80", get + "Host: example.com", true},
		{"example.com:80", get + "Host: example.com\r\nHost: evil.test\r\n\r\n", false},
		{"example.com:80", get + "Host:\r\n evil.test\r\n\r\n", false},
		{"example.com:80", get + "host : evil.test\n\n", false},
		{"example.com:80", get + "Host: evil.test@example.com\r\n\r\n", false},
		{"example.com:80", "GET http://evil.test/ HTTP/1.1\r\nHost: example.com\r\n\r\n", false},
	} {
		w := newWorld(t, rules(t, []string{"example.com:80", "example.com:81", "93.184.216.34:80", "localhost:80"}, nil), func(c *Config) { c.Dialer = dialled })
		w.book.any = "93.184.216.34"
		conn, _ := w.connect(c.at)
		for _, part := range strings.SplitAfter(c.text, "\n") { // in pieces
			if _, err := io.WriteString(conn, part); err != nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		got, _ := say(t, conn, "")
		if (got == "hello "+c.text) != c.want || !c.want && got != "" {
			t.Errorf("%s %.60q: %.60q", c.at, c.text, got)
		}
		e := w.ledger.wait(t, 1)[0]
		if want := map[bool]rule.Reason{false: DeniedHost}[c.want]; e.Reason != want || e.Allowed != c.want {
			t.Errorf("%s %.60q: %+v", c.at, c.text, e)
		}
	}
}

// TestPlainHostLater: a head that does not end in time, or is too long, is
// refused, because its Host field could follow. Other protocols pass.
func TestPlainHostLater(t *testing.T) {
	for _, c := range []struct {
		text, later string
		want        rule.Reason
	}{
		{"HELLO\r\n", "you", ""},
		{"\x00\x01", "you", ""},
		{"GET / HTTP/1.1\r\n", "Host: evil.test\r\n\r\n", BadRequest},
		{"GET ", "/ HTTP/1.1\r\nHost: evil.test\r\n\r\n", BadRequest},
		{"GET / HTTP/1.1\r\n" + strings.Repeat("X: x\r\n", 10<<10), "Host: evil.test\r\n\r\n", BadRequest},
	} {
		w := newWorld(t, rules(t, []string{"example.com:80"}, nil), func(c *Config) {
			c.Dialer, c.HeadTimeout = &dials{to: loop(server(t, echo))}, 100*time.Millisecond
		})
		w.book.any = "93.184.216.34"
		conn, _ := w.connect("example.com:80")
		_, _ = io.WriteString(conn, c.text)
		time.Sleep(300 * time.Millisecond)
		if got, _ := say(t, conn, c.later); (got == "hello "+c.text+c.later) != (c.want == "") || c.want != "" && got != "" {
			t.Errorf("%.30q: %.60q", c.text, got)
		}
		if e := w.ledger.wait(t, 1)[0]; e.Reason != c.want {
			t.Errorf("%.30q: %+v", c.text, e)
		}
	}
}
