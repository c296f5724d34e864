package egress

import (
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/egress/leaf"
	"ethos/pkg/internal/probetest"
)

// newOpenCell is a cell whose programs trust the user's authority, with which
// requests to registry.test are judged.
func newOpenCell(t *testing.T, handler http.HandlerFunc, endpoints ...Endpoint) *cell {
	t.Helper()
	pair, text := signer(t)
	authority, err := leaf.New(pair)
	if err != nil {
		t.Fatal(err)
	}
	c := newCell(t, handler, func(c *Config, servers string) {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM([]byte(servers))
		c.Intercept = &Intercept{Authority: authority, Roots: roots, Endpoints: endpoints,
			Injections: []Injection{{Host: mustHost(t, "registry.test"), Header: "Authorization", Sentinel: sentinel, Secret: secret}}}
	})
	if err := os.WriteFile(c.cert, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return c
}

// refusals counts the events of refused requests.
func (c *cell) refusals() (n int) {
	for _, e := range c.ledger.all() {
		if e.Name == "registry.test" && e.Reason == DeniedRequest && !e.Allowed {
			n++
		}
	}
	return n
}

const nodeHTTP2 = `
const http2 = require('http2'), session = http2.connect('https://registry.test');
let left = 3;
for (const path of ['/open/a', '/closed', '/open/b']) {
  const stream = session.request({':path': path, ':method': 'POST', authorization: 'Bearer ' + process.env.TOKEN});
  let status, text = '';
  stream.setEncoding('utf8');
  stream.on('response', h => status = h[':status'] + ' ' + (h['x-ethos-error'] || ''));
  stream.on('data', d => text += d);
  stream.on('end', () => { console.log(path, status, text); if (--left == 0) session.close(); });
  stream.end('body');
}`

// TestHTTP2Clients: programs that speak HTTP/2 do so at an opened host, and are
// judged there.
func TestHTTP2Clients(t *testing.T) {
	c := newOpenCell(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "served %s %s %s authorized %v", r.Proto, r.URL, body, r.Header.Get("Authorization") == "Bearer "+secret)
	}, Endpoint{Host: mustPattern(t, "registry.test"), Methods: []string{"GET", "POST"}, Paths: []string{"/open/*"}})
	for _, client := range []struct {
		name    string
		command []string
		want    []string
		refused int
	}{
		{"curl", []string{"sh", "-c", `for path in /open/a /closed; do curl -sS --http2 -H "Authorization: Bearer $TOKEN" -d body -w ' %{http_version} %{http_code}\n' https://registry.test$path; done`},
			[]string{"served HTTP/2.0 /open/a body authorized true 2 200\n", `{"error":"denied-request"`, " 2 403\n"}, 1},
		{"curl on one connection", []string{"curl", "-sS", "--http2", "-Z", "https://registry.test/open/[1-50]"}, []string{"served HTTP/2.0 /open/50  authorized false"}, 0},
		{"curl with HTTP/1", []string{"curl", "-sS", "--http1.1", "-w", " %{http_version}", "https://registry.test/open/a"}, []string{"served HTTP/2.0 /open/a  authorized false 1.1"}, 0},
		{"curl DELETE", []string{"curl", "-sS", "--http2", "-X", "DELETE", "https://registry.test/open/a"}, []string{`{"error":"denied-request"`}, 1},
		{"node", []string{"node", "-e", nodeHTTP2}, []string{"/open/a 200  served HTTP/2.0 /open/a body authorized true\n", "/open/b 200  served HTTP/2.0 /open/b body authorized true\n", `/closed 403 denied-request {"error":"denied-request"`}, 1},
	} {
		t.Run(client.name, func(t *testing.T) {
			probetest.Need(t, "command:"+strings.Fields(client.name)[0])
			before := c.refusals()
			output, err := c.run([]string{"TOKEN=" + sentinel}, client.command...)
			for _, want := range client.want {
				if err != nil || !strings.Contains(output, want) {
					t.Errorf("%v, want %q: %s", err, want, output)
				}
			}
			if n := c.refusals() - before; n != client.refused {
				t.Errorf("%d refusals", n)
			}
		})
	}
}

// rpc answers the calls of the test as a gRPC server does: each message with a
// length before it, and the status in fields after the body, or in the head if
// there is no body.
func rpc(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/grpc")
	if r.URL.Path == "/echo.Echo/Fail" {
		w.Header().Set("Grpc-Status", "9")
		w.Header().Set("Grpc-Message", "not now")
		return
	}
	w.Header().Set("Trailer", "Grpc-Status")
	_ = http.NewResponseController(w).Flush()
	prefix := make([]byte, 5)
	for {
		if _, err := io.ReadFull(r.Body, prefix); err != nil {
			break
		}
		message := make([]byte, binary.BigEndian.Uint32(prefix[1:]))
		if _, err := io.ReadFull(r.Body, message); err != nil {
			return
		}
		_, _ = w.Write(append(prefix, message...))
		_ = http.NewResponseController(w).Flush()
	}
	w.Header().Set("Grpc-Status", "0")
	if r.Header.Get("Authorization") == "Bearer "+secret {
		w.Header().Set(http.TrailerPrefix+"Authorized", "yes")
	}
}

const grpcClient = `
import grpc, os, queue, sys
credentials = grpc.ssl_channel_credentials(open(os.environ["CURL_CA_BUNDLE"], "rb").read())
channel = grpc.secure_channel("registry.test:443", credentials)
metadata = [("authorization", "Bearer " + os.environ["TOKEN"])]
same = lambda b: b
def chat(size, n):
    sent = queue.Queue()
    call = channel.stream_stream("/echo.Echo/Chat", same, same)(iter(sent.get, None), metadata=metadata, timeout=100)
    for i in range(n):
        message = b"%06d" % i + b"x" * size
        sent.put(message)
        if next(call) != message: sys.exit("another message")
    sent.put(None)
    for more in call: sys.exit("one more message")
    print("chat", n, call.code().name, dict(call.trailing_metadata()))
chat(0, 500)
chat(1 << 20, 5)
print("unary", channel.unary_unary("/echo.Echo/One", same, same)(b"hello", metadata=metadata, timeout=100))
calls = [channel.stream_stream("/echo.Echo/Chat", same, same)(iter([b"%d" % i]), metadata=metadata, timeout=100) for i in range(80)]
print("beside", [list(c) for c in calls] == [[b"%d" % i] for i in range(80)])
for method in ("/echo.Echo/Fail", "/closed.Closed/One"):
    try: channel.unary_unary(method, same, same)(b"", timeout=100); print(method, "answered")
    except grpc.RpcError as e: print(method, e.code().name, e.details())
quiet = channel.stream_stream("/echo.Echo/Chat", same, same)(iter(queue.Queue().get, None), timeout=100)
quiet.initial_metadata(); quiet.cancel()
try: next(quiet)
except grpc.RpcError as e: print("quiet", e.code().name)
`

// TestGRPC: the client of gRPC's makers calls the methods that a rule allows,
// with streams in both directions, and is told of the others.
func TestGRPC(t *testing.T) {
	probetest.Need(t, "file:/usr/lib/python3/dist-packages/grpc")
	c := newOpenCell(t, rpc, Endpoint{Host: mustPattern(t, "registry.test"), Methods: []string{"POST"}, Paths: []string{"/echo.Echo/*"}})
	if err := os.WriteFile(filepath.Join(c.dir, "client.py"), []byte(grpcClient), 0o644); err != nil {
		t.Fatal(err)
	}
	output, err := c.run([]string{"TOKEN=" + sentinel}, "/usr/bin/python3", "client.py")
	if err != nil {
		t.Errorf("%v", err)
	}
	for _, want := range []string{
		"chat 500 OK {'authorized': 'yes'}\n", "chat 5 OK {'authorized': 'yes'}\n", "unary b'hello'\n", "beside True\n",
		"/echo.Echo/Fail FAILED_PRECONDITION not now\n", "/closed.Closed/One PERMISSION_DENIED ", "quiet CANCELLED\n",
	} {
		if !strings.Contains(output, want) {
			t.Errorf("want %q:\n%s", want, output)
		}
	}
	if n := c.refusals(); n != 1 {
		t.Errorf("%d refusals: %+v", n, c.ledger.all())
	}
}
