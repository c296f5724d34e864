package egress

import (
	"crypto/tls"
	"fmt"
	"strings"
	"testing"
)

// TestTargetWithoutPath: the target of a request cannot name another host than
// the checked one, in no form: a server believes the target, not Host (RFC
// 9112, section 3.2.2).
func TestTargetWithoutPath(t *testing.T) {
	o := newOpening(t, func(i *Intercept) {
		i.Injections = []Injection{{Host: mustHost(t, "example.com"), Header: "Authorization", Sentinel: sentinel, Secret: secret}}
	})
	own := fmt.Sprintf("example.com:%d", o.port)
	for target, want := range map[string]bool{
		"/": true, "https://" + own + "/": true, "/https://other.test/": true,
		"https://other.test/": false, "x:https://other.test/": false, "https:other.test": false, "x:y": false, "x:https://" + own + "/": false,
	} {
		conn, _ := o.connect(own)
		secure := tls.Client(conn, &tls.Config{ServerName: "example.com", RootCAs: o.roots})
		_, _ = fmt.Fprintf(secure, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", target, own, sentinel)
		head := readHead(secure)
		conn.Close()
		if got := strings.HasPrefix(head, "HTTP/1.1 200 "); got != want || len(o.seen) > 0 != want {
			t.Errorf("%s: %q", target, head)
		}
		for len(o.seen) > 0 {
			if r := <-o.seen; !want || r.Host != own {
				t.Errorf("%s: the server saw a request for %s at %s, with %q", target, r.URL, r.Host, r.Header["Authorization"])
			}
		}
	}
}
