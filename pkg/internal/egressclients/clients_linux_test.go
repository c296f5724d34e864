package egressclients

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/shorttest"
)

// client is a program that reaches one name. Its script may call the name NAME
// and this binary SELF, and what it prints contains want only when the server
// has answered.
type client struct {
	name    string
	needs   []string
	script  string
	want    string
	port    string            // of the allow-list, "" for 80 and 443
	proxy   string            // the door that it takes when the variables of proxies are set
	files   map[string]string // of the work space
	prepare func(p *place)
}

const (
	javaSource = `
import java.io.*; import java.net.URI; import java.net.http.*; import java.security.*; import java.security.cert.*; import javax.net.ssl.*;
public class Client { public static void main(String[] a) throws Exception {
  KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType()); store.load(null, null);
  store.setCertificateEntry("a", CertificateFactory.getInstance("X.509").generateCertificate(new FileInputStream("ca.pem")));
  TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm()); trust.init(store);
  SSLContext context = SSLContext.getInstance("TLS"); context.init(null, trust.getTrustManagers(), null);
  HttpRequest request = HttpRequest.newBuilder(URI.create(a[0])).build();
  System.out.println(HttpClient.newBuilder().sslContext(context).build().send(request, HttpResponse.BodyHandlers.ofString()).body());
} }`
	// AI_ADDRCONFIG: addresses of a family that an interface has, lo aside.
	addressesSource = `
import socket, sys
for family in socket.AF_INET, socket.AF_INET6:
    where = socket.getaddrinfo(sys.argv[1], 80, family, socket.SOCK_STREAM, 0, socket.AI_ADDRCONFIG)[0][4]
    with socket.socket(family) as s:
        s.connect(where)
        s.send(b"GET / HTTP/1.0\r\nHost: %s\r\n\r\n" % sys.argv[1].encode())
        answer = s.makefile().read()
print(answer)`
	rpcSource = `
import grpc, sys
channel = grpc.insecure_channel(sys.argv[1])
print(channel.unary_unary("/echo.Echo/Echo")(b"served by rpc", timeout=20).decode())`
	websocketSource = `
import asyncio, websockets, sys
async def main():
    async with websockets.connect(sys.argv[1]) as c:
        await c.send("served by websocket")
        print(await c.recv())
asyncio.run(main())`
	fetchSource = `fetch('https://NAME/').then(r=>r.text()).then(console.log,e=>{console.error(e);process.exit(1)})`
	getSource   = `require('https').get('https://NAME/',r=>r.pipe(process.stdout)).on('error',e=>{console.error(e);process.exit(1)})`
)

var clients = []client{
	{name: "curl", needs: []string{"command:curl"}, script: `curl -sS --http1.1 https://NAME/`, want: "served NAME HTTP/1.1", proxy: record.DoorConnect},
	{name: "curl http2", needs: []string{"command:curl"}, script: `curl -sS --http2 https://NAME/`, want: "served NAME HTTP/2.0", proxy: record.DoorConnect},
	{name: "curl plain", needs: []string{"command:curl"}, script: `curl -sSf http://NAME/`, want: "served NAME HTTP/1.1", proxy: record.DoorHTTP},
	{name: "curl ipv6", needs: []string{"command:curl"}, script: `curl -sS -6 https://NAME/`, want: "served NAME"},
	{name: "curl socks5", needs: []string{"command:curl"}, script: `curl -sS ${HTTP_PROXY:+-x "socks5://${HTTP_PROXY#*://}"} https://NAME/`, want: "served NAME", proxy: record.DoorSOCKS5},
	{name: "curl socks5h", needs: []string{"command:curl"}, script: `curl -sS ${HTTP_PROXY:+-x "socks5h://${HTTP_PROXY#*://}"} https://NAME/`, want: "served NAME", proxy: record.DoorSOCKS5},
	{name: "git https", needs: []string{"command:git"}, script: `git -c http.sslCAInfo=ca.pem clone -q https://NAME/git/repo.git clone; cat clone/file`, want: "hello", proxy: record.DoorConnect, prepare: func(p *place) { gitContent(p.t) }},
	{name: "git ssh", needs: []string{"command:git", "command:ssh"}, port: ":22", want: "hello", prepare: sshKey,
		script: `git -c core.sshCommand='ssh -F /dev/null -i key -o IdentitiesOnly=yes -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null' clone -q LOGIN@NAME:REPOSITORIES/repo.git clone; cat clone/file`},
	{name: "go mod download", needs: []string{"command:go"}, script: `GOPROXY=https://NAME/go go mod download -json tiny.example/m@v1.0.0`, want: `"Zip": `, proxy: record.DoorConnect},
	{name: "go get", needs: []string{"command:go"}, script: `rm -rf m; mkdir m; cd m; go mod init -q m 2>/dev/null || go mod init m; GOPROXY=https://NAME/go go get tiny.example/m; cat go.mod`, want: "tiny.example/m v1.0.0", proxy: record.DoorConnect},
	{name: "static", script: `SELF fetch https://NAME/`, want: "served NAME HTTP/2.0", proxy: record.DoorConnect},
	{name: "npm", needs: []string{"command:npm"}, script: `npm install --registry https://NAME/npm/ tiny; cat node_modules/tiny/package.json`, want: `"name":"tiny"`, proxy: record.DoorConnect},
	{name: "node fetch", needs: []string{"command:node"}, script: `node -e "` + fetchSource + `"`, want: "served NAME", proxy: record.DoorTransparent},
	{name: "node https", needs: []string{"command:node"}, script: `node -e "` + getSource + `"`, want: "served NAME"},
	{name: "pip", needs: []string{"command:pip3"}, script: `pip3 install -q --retries 0 --target out --index-url https://NAME/pypi/ tiny; ls out`, want: "tiny.py", proxy: record.DoorConnect},
	{name: "python urllib", needs: []string{"command:python3"}, script: `python3 -c "import urllib.request as u; print(u.urlopen('https://NAME/').read().decode())"`, want: "served NAME", proxy: record.DoorConnect},
	{name: "python, addresses as configured", needs: []string{"command:python3"}, script: `python3 addresses.py NAME`, want: "served NAME", files: map[string]string{"addresses.py": addressesSource}},
	{name: "python requests", needs: []string{"file:/usr/lib/python3/dist-packages/requests"}, script: `python3 -c "import requests; print(requests.get('https://NAME/').text)"`, want: "served NAME", proxy: record.DoorConnect},
	{name: "java", needs: []string{"java"}, script: `java -Xshare:auto -XX:TieredStopAtLevel=1 Client.java https://NAME/`, want: "served NAME", files: map[string]string{"Client.java": javaSource}},
	{name: "psql", needs: []string{"command:psql"}, port: ":5432", script: `psql 'host=NAME user=tester dbname=postgres' -tAc "select 'served by '||40+2"`, want: "served by 42", prepare: func(p *place) { postgres(p.t) }},
	{name: "redis-cli", needs: []string{"command:redis-cli"}, port: ":6379", script: `redis-cli -h NAME ping`, want: "PONG", prepare: func(p *place) { redis(p.t) }},
	{name: "grpc", needs: []string{"file:/usr/lib/python3/dist-packages/grpc"}, port: ":50051", script: `python3 rpc.py NAME:50051`, want: "served by rpc", files: map[string]string{"rpc.py": rpcSource}, proxy: record.DoorConnect},
	{name: "websocket", needs: []string{"file:/usr/lib/python3/dist-packages/websockets"}, script: `python3 ws.py wss://NAME/websocket`, want: "served by websocket", files: map[string]string{"ws.py": websocketSource}},
	{name: "apt-get", needs: []string{"command:apt-get"}, want: "NAME_apt_._Packages", proxy: record.DoorHTTP, files: map[string]string{"sources.list": "deb [trusted=yes] http://" + registry + "/apt ./\n", "status": ""},
		script: `d=$PWD; mkdir -p lists/partial; apt-get update -o Dir::Etc=$d -o Dir::State=$d -o Dir::State::status=$d/status -o Dir::Cache=$d -o APT::Sandbox::User= -o Acquire::Languages=none -o Acquire::Retries=0 -o APT::Update::Error-Mode=any >&2; ls lists`},
	{name: "busybox", needs: []string{"command:busybox"}, script: `busybox wget -q -O- http://NAME/`, want: "served NAME"},
	{name: "bash", needs: []string{"command:bash"}, script: `bash -c 'exec 5<>/dev/tcp/NAME/80; printf "GET / HTTP/1.0\r\nHost: NAME\r\n\r\n" >&5; cat <&5'`, want: "served NAME"},
}

// TestClients: each client reaches the name that is allowed, without knowing
// how, and by the explicit proxy where it knows proxies. Where another name is
// allowed it is refused quickly, and the run says what would allow it.
func TestClients(t *testing.T) {
	shorttest.Long(t)
	for _, c := range shorttest.Sample(clients, 4) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := c.place(t)
			twin := p.direct(c.text())
			if !c.answered(twin) {
				t.Fatalf("without a sandbox: %v", twin)
			}
			t.Logf("without a sandbox: %v", twin.took)
			for _, door := range c.doors() {
				refused := c.place(t).sandboxed(append(door.flags, c.flags(other+c.port)...), c.text())
				if refused.err == nil || strings.Contains(refused.stdout, c.expected()) || refused.took > 2*twin.took+quickly {
					t.Errorf("by %s, not allowed: %v", door.name, refused)
				}
				remedy := refused.remedy(registry)
				if remedy == "" {
					t.Errorf("by %s: the run does not end with what would allow it: %v", door.name, refused)
				}
				if c.port != "" || remedy == "" {
					remedy = registry + c.port
				}
				allowed := c.place(t).sandboxed(append(door.flags, c.flags(remedy)...), c.text())
				if !c.answered(allowed) || !allowed.connected(door.name) {
					t.Errorf("by %s, allowed: %v", door.name, allowed)
				}
				t.Logf("%s: refused %v, allowed %v", door.name, refused.took, allowed.took)
			}
		})
	}
}

// TestRefusedPort: a name that is allowed for one port is refused for another,
// and what the end of the run proposes allows that port as well.
func TestRefusedPort(t *testing.T) {
	probetest.Need(t, "command:curl", "command:bash")
	for _, c := range []struct{ allowed, script, remedy, want string }{
		{registry + ":443", "curl -sSf http://" + registry + "/", registry + ":80", "served"},
		{registry + ":5432", "curl -sSf https://" + registry + "/", registry + ":443", "served"},
		{registry, "bash -c 'read -t 20 line </dev/tcp/" + registry + "/22; echo \"$line\"'", registry + ":22", "SSH-2.0"},
	} {
		t.Run(c.remedy, func(t *testing.T) {
			p := newPlace(t)
			if c.want == "SSH-2.0" {
				sshd(t)
			}
			refused := p.sandboxed([]string{"--allow-domain", c.allowed}, c.script)
			if strings.Contains(refused.stdout, c.want) || refused.remedy(registry) != c.remedy {
				t.Errorf("not allowed: %v", refused)
			}
			allowed := p.sandboxed([]string{"--allow-domain", c.allowed, "--allow-domain", c.remedy}, c.script)
			if !strings.Contains(allowed.stdout, c.want) {
				t.Errorf("allowed: %v", allowed)
			}
		})
	}
}

// quickly is how long a refusal may take, beside what the client takes, on a busy machine: a name that is not answered takes a client a minute.
const quickly = 20 * time.Second

type door struct {
	name  string
	flags []string
}

// TestNothingPaces: a connection inside never leaves the machine, so neither of
// its ends is paced, whatever the machine's congestion control is: here the end
// of the command's.
func TestNothingPaces(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "command:python3")
	p := newPlace(t)
	p.write("pace.py", `
import socket
for family in (socket.AF_INET, socket.AF_INET6):
    at = socket.getaddrinfo("registry.example", 80, family, socket.SOCK_STREAM)[0][4]
    s = socket.socket(family)
    s.connect(at)
    print(s.getsockopt(socket.IPPROTO_TCP, 13, 16).rstrip(b"\0").decode()) # TCP_CONGESTION
`)
	if o := p.sandboxed([]string{"--allow-domain", registry}, "python3 pace.py"); o.stdout != "reno\nreno\n" {
		t.Error(o)
	}
}

// TestPortNobodyListensAt: where no listener is, nobody is told which port was
// meant. A command that failed is told which ports an allowed name has, if it
// asked for it and did not come to them; with the port put into the hint it
// works.
func TestPortNobodyListensAt(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, c := range []struct {
		url  string
		want string
	}{
		{"http://registry.example:81/", "ethos-sandbox: hint: --allow-domain registry.example:PORT\n"},
		{"http://registry.example/", ""},     // connected
		{"http://127.0.0.1:81/", ""},         // no name
		{"http://20.0.0.2:81/", ""},          // no way
		{"http://registry.example:22/x", ""}, // told by the door
	} {
		o := p.sandboxed([]string{"--allow-domain", registry, "--ro", self()}, self()+" "+fetchWord+" "+c.url+"; exit 1")
		if told := strings.Contains(o.stderr, "looked up but not connected to at its ports 80, 443; the kernel refused the command "); told != (c.want != "") || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%s: %v", c.url, o)
		}
	}
	tried := self() + " " + fetchWord + " http://registry.example:81/"
	if o := p.sandboxed([]string{"--allow-domain", registry, "--ro", self()}, tried+" || true"); strings.Contains(o.stderr, "registry.example:PORT") {
		t.Errorf("a command that did not fail: %v", o)
	}
	if o := p.sandboxed([]string{"--allow-domain", registry, "--allow-domain", "registry.example:81", "--ro", self()}, tried); o.err != nil || !strings.Contains(o.stdout, "served registry.example:81") {
		t.Errorf("with the hint: %v", o)
	}
}

func (c client) doors() []door {
	doors := []door{{name: record.DoorTransparent}}
	if c.proxy != "" {
		doors = append(doors, door{c.proxy, []string{"--proxy-env"}})
	}
	return doors
}

func (c client) place(t *testing.T) *place {
	t.Helper()
	for _, need := range c.needs {
		if need == "java" {
			probetest.NeedFunc(t, "java", lookPath("java"))
			continue
		}
		probetest.Need(t, need)
	}
	p := newPlace(t)
	for name, text := range c.files {
		p.write(name, text)
	}
	if c.prepare != nil {
		c.prepare(p)
	}
	return p
}

func (c client) flags(domain string) []string {
	return []string{"--allow-domain", domain, "--ro", self()}
}

func (c client) text() string {
	return strings.NewReplacer("NAME", registry, "SELF", self(), "LOGIN", login(), "REPOSITORIES", filepath.Join(theWorld.dir, "git")).Replace(c.script)
}

func (c client) expected() string { return strings.ReplaceAll(c.want, "NAME", registry) }

func (c client) answered(o outcome) bool {
	return o.err == nil && strings.Contains(o.stdout, c.expected())
}

var shown sync.Once

// gitContent has the servers show the repository.
func gitContent(t *testing.T) {
	t.Helper()
	dir, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	shown.Do(func() {
		theWorld.content.Handle("/git/", http.StripPrefix("/git/", http.FileServer(http.Dir(dir))))
	})
}

// sshKey brings the key of the user into the work space.
func sshKey(p *place) {
	p.t.Helper()
	sshd(p.t)
	gitContent(p.t)
	key, err := os.ReadFile(filepath.Join(theWorld.dir, "sshd", "user"))
	if err != nil {
		p.t.Fatal(err)
	}
	p.write("key", string(key))
}
