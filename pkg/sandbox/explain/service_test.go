package explain

import (
	"net"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/sandbox/plan"
)

// TestServices: a message about a port of the command's own loopback is a hint
// only if something listens there outside, and it is not allowed.
func TestServices(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	closed, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nothing := portOf(closed)
	closed.Close()
	for message, hinted := range map[string]bool{
		"curl: (7) Failed to connect to localhost port PORT after 0 ms: Couldn't connect to server":                                             true,
		"psql: error: connection to server at \"localhost\" (127.0.0.1), port PORT failed: Connection refused":                                  true,
		"Could not connect to Redis at 127.0.0.1:PORT: Connection refused":                                                                      true,
		"Error: connect ECONNREFUSED ::1:PORT":                                                                                                  true,
		"dial tcp [::1]:PORT: connect: connection refused":                                                                                      true,
		"HTTPConnectionPool(host='localhost', port=PORT): Max retries exceeded with url: / (… [Errno 111] Connection refused'))":                true,
		"ERROR 2003 (HY000): Can't connect to MySQL server on '127.0.0.1:PORT' (111)":                                                           true,
		"Connecting to localhost (localhost)|127.0.0.1|:PORT... failed: Connection refused.":                                                    true,
		"error sending request for url (http://localhost:PORT/): error trying to connect: tcp connect error: Connection refused (os error 111)": true,

		"listening on localhost:PORT":                       false,
		"Connection refused":                                false,
		"connect to 10.0.0.1 port PORT: connection refused": false,
		"connection refused: example.localhost:PORT":        false,
		"connection refused: localhost:1PORT1":              false,
	} {
		for network, allowed := range map[string][]string{"none": nil, "loopback": nil, "proxy": {"example.org"}} {
			x := Here(&plan.Plan{Network: network, AllowDomains: allowed})
			find := func(port string) (list []string) {
				for _, d := range x.services(Failed{Output: "first\n" + strings.ReplaceAll(message, "PORT", port) + "\n", Read: true}) {
					list = append(list, d.Remedy)
				}
				return list
			}
			var want []string
			if hinted {
				want = []string{"--allow-domain localhost:" + portOf(listener)}
			}
			if got := find(portOf(listener)); !slices.Equal(got, want) {
				t.Errorf("%s: %s: %q, want %q", network, message, got, want)
			}
			if got := find(nothing); got != nil {
				t.Errorf("%s: %s: %q for a port on which nothing listens", network, message, got)
			}
		}
	}
	refused := Failed{Argv: []string{"curl", "http://localhost:" + portOf(listener)}}
	for _, p := range []plan.Plan{{Network: "host"}, {Network: "proxy", AllowDomains: []string{"localhost:" + portOf(listener)}}} {
		if got := Here(&p).services(refused); got != nil {
			t.Errorf("%+v: %+v", p, got)
		}
	}
	if got := Here(&plan.Plan{Network: "loopback"}).services(refused); len(got) != 1 {
		t.Errorf("without output: %+v", got)
	}
	refused.Read = true
	if got := Here(&plan.Plan{Network: "loopback"}).services(refused); got != nil {
		t.Errorf("the output says nothing: %+v", got)
	}
}

func portOf(l net.Listener) string {
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}
