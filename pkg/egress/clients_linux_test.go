package egress

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/egress/leaf"
	"ethos/pkg/egress/rule"
	"ethos/pkg/internal/probetest"
	"ethos/pkg/shorttest"
)

// answering is a server that programs recognise.
func answering() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "served %s %s\n", r.Host, r.Proto)
	})
}

const javaClient = `
import java.net.URI; import java.net.http.*;
public class Client { public static void main(String[] a) throws Exception {
  System.out.println(HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(a[0])).build(), HttpResponse.BodyHandlers.ofString()).body());
} }`

// TestClients: programs that know of no proxy reach the allowed name and not
// the other one; with the variables set they do the same through the proxy.
func TestClients(t *testing.T) {
	shorttest.Long(t)
	c := newCell(t, answering())
	if err := os.WriteFile(filepath.Join(c.dir, "Client.java"), []byte(javaClient), 0o644); err != nil {
		t.Fatal(err)
	}
	proxied := []string{"http_proxy=http://127.0.0.1:3128", "https_proxy=http://127.0.0.1:3128", "HTTP_PROXY=http://127.0.0.1:3128", "HTTPS_PROXY=http://127.0.0.1:3128"}
	for _, client := range []struct {
		name    string
		command []string
		env     []string
		door    Door
	}{
		{"curl", []string{"curl", "-sS", "https://NAME/"}, nil, DoorTransparent},
		{"curl http1.1", []string{"curl", "-sS", "--http1.1", "https://NAME/"}, nil, DoorTransparent},
		{"curl ipv6", []string{"curl", "-sS", "-6", "https://NAME/"}, nil, DoorTransparent},
		{"curl ipv4", []string{"curl", "-sS", "-4", "https://NAME/"}, nil, DoorTransparent},
		{"curl plain", []string{"curl", "-sS", "http://NAME/"}, nil, DoorTransparent},
		{"curl proxied", []string{"curl", "-sS", "https://NAME/"}, proxied, DoorConnect},
		{"curl proxied plain", []string{"curl", "-sSf", "http://NAME/"}, proxied, DoorHTTP},
		{"curl socks5h", []string{"curl", "-sS", "-x", "socks5h://127.0.0.1:3128", "https://NAME/"}, nil, DoorSOCKS5},
		{"curl socks5", []string{"curl", "-sS", "-x", "socks5://127.0.0.1:3128", "https://NAME/"}, nil, DoorSOCKS5},
		{"python", []string{"python3", "-c", "import urllib.request as u; print(u.urlopen('https://NAME/').read())"}, nil, DoorTransparent},
		{"python proxied", []string{"python3", "-c", "import urllib.request as u; print(u.urlopen('https://NAME/').read())"}, proxied, DoorConnect},
		{"node fetch", []string{"node", "-e", "fetch('https://NAME/').then(r=>r.text()).then(console.log,e=>{console.error(e);process.exit(1)})"}, nil, DoorTransparent},
		{"node fetch with variables", []string{"node", "-e", "fetch('https://NAME/').then(r=>r.text()).then(console.log,e=>{console.error(e);process.exit(1)})"}, proxied, DoorTransparent},
		{"node https", []string{"node", "-e", "require('https').get('https://NAME/',r=>r.pipe(process.stdout)).on('error',e=>{console.error(e);process.exit(1)})"}, nil, DoorTransparent},
		{"java", []string{"java", "-Xshare:auto", "Client.java", "http://NAME/"}, nil, DoorTransparent},
		{"bash", []string{"bash", "-c", `exec 5<>/dev/tcp/NAME/80 && printf 'GET / HTTP/1.0\r\nHost: NAME\r\n\r\n' >&5 && cat <&5`}, nil, DoorTransparent},
	} {
		t.Run(client.name, func(t *testing.T) {
			probetest.Need(t, "command:"+client.command[0])
			for name, want := range map[string]bool{"registry.test": true, "other.test": false} {
				before := len(c.ledger.all())
				output, err := c.run(client.env, replaced(client.command, name)...)
				if got := err == nil && strings.Contains(output, "served "+name); got != want {
					t.Errorf("%s: %v, %s", name, err, output)
				}
				if want {
					checkDoor(t, c.ledger.wait(t, before+1)[before:], name, client.door)
				}
			}
		})
	}
	for _, e := range c.ledger.all() {
		if e.Name == "other.test" && (e.Allowed || e.Reason != rule.NotAllowed || e.Remedy == "") {
			t.Errorf("%+v", e)
		}
	}
}

func replaced(command []string, name string) (out []string) {
	for _, word := range command {
		out = append(out, strings.ReplaceAll(word, "NAME", name))
	}
	return out
}

// checkDoor: an allowed name came by its door.
func checkDoor(t *testing.T, events []Event, name string, door Door) {
	t.Helper()
	for _, e := range events {
		if e.Name == name && e.Allowed && e.Door == door {
			return
		}
	}
	t.Errorf("no event of %s by %s: %+v", name, door, events)
}

// TestNothingElse: a program that ignores everything reaches nothing but the
// doors.
func TestNothingElse(t *testing.T) {
	c := newCell(t, answering())
	probetest.Need(t, "command:python3")
	const script = `
import socket, sys
def tcp(family, where):
    s = socket.socket(family, socket.SOCK_STREAM); s.settimeout(20)
    try: s.connect(where); s.send(b"GET / HTTP/1.0\r\n\r\n"); print(where, "got", s.recv(100))
    except OSError as e: print(where, "error", e.errno)
def udp(where):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(1)
    try: s.connect(where); s.send(b"x"); print(where, "got", s.recv(100))
    except OSError as e: print(where, "error", e.errno)
name = socket.getaddrinfo("registry.test", 80, socket.AF_INET)[0][4][0]
tcp(socket.AF_INET, ("93.184.216.34", 80)); tcp(socket.AF_INET, ("10.0.0.1", 80)); tcp(socket.AF_INET6, ("2606:4700::1", 80))
tcp(socket.AF_INET, (name, 81)); tcp(socket.AF_INET, ("198.18.200.200", 80)); tcp(socket.AF_INET6, ("100::1234", 443))
tcp(socket.AF_INET, ("127.0.0.1", 80)); tcp(socket.AF_INET, ("127.0.0.1", %d))
udp((name, 443)); udp(("93.184.216.34", 53)); udp(("8.8.8.8", 53))
for n in ("evil.test", "metadata.google.internal"):
    try: print(n, "got", socket.getaddrinfo(n, 80))
    except OSError as e: print(n, "error", e)
print("done")
`
	ours := portOf(t, c.proxy) // a listener of the host's loopback
	output, err := c.run(nil, "python3", "-c", fmt.Sprintf(script, ours))
	if err != nil || !strings.Contains(output, "done") || strings.Contains(output, "got") || strings.Count(output, "error") != 13 {
		t.Errorf("%v\n%s", err, output)
	}
	for _, e := range c.ledger.all() {
		if e.Allowed {
			t.Errorf("%+v", e)
		}
	}
}

// TestGit clones over HTTPS from a server of static files.
func TestGit(t *testing.T) {
	probetest.Need(t, "command:git")
	dir := t.TempDir()
	script := `git init -q w && cd w && echo hello > file && git add file && git -c user.name=a -c user.email=a@b commit -qm one && cd .. && git clone -q --bare w repo.git && git -C repo.git update-server-info`
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c := newCell(t, http.FileServer(http.Dir(dir)))
	if output, err := c.run(nil, "git", "clone", "https://registry.test/repo.git", "clone"); err != nil {
		t.Errorf("%v: %s", err, output)
	}
	if text, err := os.ReadFile(filepath.Join(c.dir, "clone", "file")); err != nil || string(text) != "hello\n" {
		t.Errorf("%q, %v", text, err)
	}
	if output, err := c.run(nil, "git", "clone", "https://evil.test/repo.git", "other"); err == nil {
		t.Errorf("%s", output)
	}
}

// npmPackage is a package with one file.
func npmPackage(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	text := `{"name":"tiny","version":"1.0.0"}`
	if err := w.WriteHeader(&tar.Header{Name: "package/package.json", Mode: 0o644, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestNPM installs from a registry; with a registry that is not allowed it
// ends, and the refusal has its event.
func TestNPM(t *testing.T) {
	shorttest.Long(t)
	probetest.Need(t, "command:npm")
	archive := npmPackage(t)
	c := newCell(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/tiny":
			_, _ = fmt.Fprintf(w, `{"name":"tiny","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"tiny","version":"1.0.0","dist":{"tarball":"https://registry.test/tiny.tgz","shasum":"%x"}}}}`, sha1.Sum(archive))
		case "/tiny.tgz":
			_, _ = w.Write(archive)
		default:
			http.NotFound(w, r)
		}
	}))
	output, err := c.run(nil, "npm", "install", "--no-audit", "--no-fund", "--registry", "https://registry.test/", "tiny")
	if err != nil {
		t.Errorf("%v: %s", err, output)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "node_modules", "tiny", "package.json")); err != nil {
		t.Error(err)
	}
	output, err = c.run(nil, "npm", "install", "--no-audit", "--no-fund", "--fetch-retries", "0", "--registry", "https://evil.test/", "other")
	if err == nil {
		t.Errorf("%s", output)
	}
	for _, e := range c.ledger.all() {
		if e.Name == "evil.test" && e.Reason == rule.NotAllowed && e.Remedy == "evil.test" {
			return
		}
	}
	t.Errorf("no event: %+v", c.ledger.all())
}

// TestInterceptedClient: curl, which trusts the user's authority, gets the
// requests that an endpoint names through, with the secret that it does not
// have, and no others.
func TestInterceptedClient(t *testing.T) {
	probetest.Need(t, "command:curl")
	pair, text := signer(t)
	authority, err := leaf.New(pair)
	if err != nil {
		t.Fatal(err)
	}
	c := newCell(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "served %s, authorized %v", r.URL, r.Header.Get("Authorization") == "Bearer "+secret)
	}), func(c *Config, servers string) {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM([]byte(servers))
		c.Intercept = &Intercept{Authority: authority, Roots: roots,
			Endpoints:  []Endpoint{{Host: mustPattern(t, "registry.test"), Methods: []string{"GET"}, Paths: []string{"/public/*"}}},
			Injections: []Injection{{Host: mustHost(t, "registry.test"), Header: "Authorization", Sentinel: sentinel, Secret: secret}}}
	})
	if err := os.WriteFile(c.cert, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	const command = `curl -sS -H "Authorization: Bearer $TOKEN" https://registry.test/public/a; curl -sS -o /dev/null -w ' %{http_code}' https://registry.test/private`
	output, err := c.run([]string{"TOKEN=" + sentinel}, "sh", "-c", command)
	if err != nil || output != "served /public/a, authorized true 403" {
		t.Errorf("%q, %v", output, err)
	}
}
