package egressclients

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/shorttest"
)

// authority makes an authority of the person's, in a file of the home directory.
func (p *place) authority() (file string) {
	p.t.Helper()
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(3), Subject: pkix.Name{CommonName: "authority of the person"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der := must(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	text = append(text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: must(x509.MarshalPKCS8PrivateKey(key))})...)
	file = filepath.Join(filepath.Dir(p.work), "home", "authority.pem")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		p.t.Fatal(err)
	}
	return file
}

// opened runs a script whose requests the person's authority opens. Programs
// inside are told of no certificate by the script.
func (p *place) opened(flags []string, script string) outcome {
	p.t.Helper()
	flags = append([]string{"--ca-bundle", p.authority(), "--allow-domain", registry + "," + other}, flags...)
	return p.evidenced(flags, "export npm_config_update_notifier=false PIP_DISABLE_PIP_VERSION_CHECK=1 GIT_TERMINAL_PROMPT=0\n"+script)
}

// openable are clients that read neither flags nor files of the test: each
// prints what a request for /open/x answers.
var openable = []struct {
	name  string
	needs []string
	get   string
}{
	{"curl", []string{"command:curl"}, `curl -sS https://NAMEPATH`},
	{"curl plain", []string{"command:curl"}, `curl -sS http://NAMEPATH`},
	{"node", []string{"command:node"}, `node -e "fetch('https://NAMEPATH').then(async r=>console.log(r.status, await r.text()))"`},
	{"python", []string{"command:python3"}, `python3 -c "
import urllib.request, urllib.error
try: print(urllib.request.urlopen('https://NAMEPATH').read().decode())
except urllib.error.HTTPError as e: print(e.code, e.read().decode())"`},
	{"python requests", []string{"file:/usr/lib/python3/dist-packages/requests"}, `/usr/bin/python3 -c "import requests; print(requests.get('https://NAMEPATH').text)"`},
	{"static", nil, `SELF fetch https://NAMEPATH`},
}

// TestRequests: a client reaches the paths that a rule allows at a host, and
// no others; a host without a rule is as it was. No client is told of the
// authority but by what is in the sandbox by default.
func TestRequests(t *testing.T) {
	shorttest.Long(t)
	for _, c := range openable {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			probetest.Need(t, c.needs...)
			p := newPlace(t)
			text := func(name, path string) string {
				return strings.NewReplacer("NAME", name, "PATH", path, "SELF", self()).Replace(c.get)
			}
			flags := []string{"--allow-request", registry + " GET /open/*", "--ro", self()}
			if o := p.opened(flags, text(registry, "/open/x")); !strings.Contains(o.stdout, "served "+registry+" HTTP/") || len(o.denied()) > 0 {
				t.Errorf("allowed: %v", o)
			}
			refused := p.opened(flags, text(registry, "/closed/x"))
			if strings.Contains(refused.stdout, "served") || !refused.refused(registry, "denied-request") {
				t.Errorf("not allowed: %v", refused)
			}
			if c.name != "static" && !strings.Contains(refused.stdout, `"error":"denied-request"`) {
				t.Errorf("the client is not told: %v", refused)
			}
			remedy := "--allow-request '" + registry + " GET /closed/x'"
			if denied := refused.denied(); len(denied) != 1 || !strings.Contains(denied[0], remedy) || !strings.Contains(refused.stderr, "ethos-sandbox: hint: "+remedy+"\n") {
				t.Errorf("want %s: %q\n%v", remedy, denied, refused)
			}
			if o := p.opened(append(flags, "--allow-request", registry+" GET /closed/x"), text(registry, "/closed/x")); !strings.Contains(o.stdout, "served") {
				t.Errorf("with the remedy: %v", o)
			}
			if strings.Contains(c.get, "http:") {
				return
			}
			if o := p.opened(flags, text(other, "/closed/x")); strings.Contains(o.stdout, "served") {
				t.Errorf("the server's own authority is trusted inside: %v", o)
			}
		})
	}
}

// TestRequestAttacks: no method, path, protocol or connection leads past a rule.
func TestRequestAttacks(t *testing.T) {
	probetest.Whole(t)
	probetest.Need(t, "command:curl")
	p := newPlace(t)
	for _, attack := range []string{
		"-X POST https://NAME/open/x", "-X DELETE https://NAME/open/x", "--path-as-is https://NAME/open/../closed", "--path-as-is https://NAME/open/%2e%2e/closed", "https://NAME//open/x", "https://NAME/open%2fx",
		"-H 'Host: " + other + "' https://NAME/open/x", "https://NAME/", "--http2-prior-knowledge http://NAME/open/x", "http://NAME/closed", "--http1.1 -X CONNECT --request-target " + other + ":443 https://NAME/",
		"-x http://127.0.0.1:1021 https://NAME/closed", "-x http://127.0.0.1:1021 http://NAME/closed", "-x socks5h://127.0.0.1:1021 https://NAME/closed", "--request-target https://" + other + "/open/x https://NAME/open/x",
		"--http1.1 -X POST https://NAME/open/x", "--http1.1 https://NAME/closed", "--http1.1 -H 'Host: " + other + "' https://NAME/open/x", "--http2 -H 'Upgrade: h2c' http://NAME/open/x",
		"-H 'X-HTTP-Method-Override: DELETE' -X POST https://NAME/open/x", "--connect-to " + other + ":443:NAME:443 https://" + other + "/open/x",
	} {
		o := p.opened([]string{"--allow-request", registry + " GET /open/*"}, "curl -sSk "+strings.ReplaceAll(attack, "NAME", registry))
		if strings.Contains(o.stdout, "served") || len(o.denied()) == 0 {
			t.Errorf("%s: %v", attack, o)
		}
	}
	twin := p.opened([]string{"--allow-request", registry + " GET /open/*"}, "curl -sS https://"+registry+"/open/x?../closed https://"+registry+"/open/y")
	if strings.Count(twin.stdout, "served") != 2 {
		t.Errorf("the allowed twin: %v", twin)
	}
}

// TestVirtualHosts: another allowed name of the same server, which no rule opens, is
// a way past a rule over TLS; a rule of its own closes it.
func TestVirtualHosts(t *testing.T) {
	probetest.Need(t, "command:curl")
	p := newPlace(t)
	rules := []string{"--allow-request", registry + " GET /open/*"}
	script := "curl -sSk -H 'Host: " + registry + "' https://" + other + "/closed; curl -sS -H 'Host: " + registry + "' http://" + other + "/closed"
	if o := p.opened(rules, script); strings.Count(o.stdout, "served "+registry) != 1 || !o.refused(other, "denied-host") {
		t.Errorf("the price, over TLS alone: %v", o)
	}
	rules = append(rules, "--allow-request", other)
	if o := p.opened(rules, script); strings.Contains(o.stdout, "served") || !o.refused(other, "denied-host") {
		t.Errorf("with a rule of its own: %v", o)
	}
	if o := p.opened(rules, "curl -sS https://"+other+"/closed"); !strings.Contains(o.stdout, "served "+other) {
		t.Errorf("the allowed twin: %v", o)
	}
}

// TestAuthorityIsHidden: the command neither reads the key of the authority nor
// names one that it could have read or written.
func TestAuthorityIsHidden(t *testing.T) {
	p := newPlace(t)
	rules := []string{"--allow-request", registry + " GET /open/*"}
	file := p.authority()
	home := filepath.Dir(file)
	check(os.Mkdir(filepath.Join(home, "sub"), 0o755))
	look := `cat "` + file + `" || echo hidden
grep -rl "PRIVATE KEY" "` + home + `" . /etc/ssl/certs/ca-certificates.crt 2>/dev/null || echo nowhere
grep -c BEGIN /etc/ssl/certs/ca-certificates.crt`
	if twin := p.direct(look); !strings.Contains(twin.stdout, "-----BEGIN PRIVATE KEY-----") || !strings.Contains(twin.stdout, file+"\n") {
		t.Fatalf("without a sandbox: %v", twin)
	}
	for _, flags := range [][]string{nil, {"--ro", filepath.Join(home, "sub")}, {"--ro", home}} {
		if o := p.opened(append(flags, rules...), look); o.err != nil || !strings.HasPrefix(o.stdout, "hidden\nnowhere\n") {
			t.Errorf("%q: %v", flags, o)
		}
	}
	text := must(os.ReadFile(file))
	p.write("authority.pem", string(text))
	link := filepath.Join(p.work, "link.pem")
	check(os.Symlink(file, link))
	twice := filepath.Join(home, "twice.pem")
	check(os.WriteFile(twice, text, 0o600))
	check(os.Link(twice, filepath.Join(p.work, "second.pem")))
	certificate, _ := pem.Decode(text)
	bare := filepath.Join(home, "bare.pem")
	check(os.WriteFile(bare, pem.EncodeToMemory(certificate), 0o600))
	check(os.WriteFile(filepath.Join(home, "sub", "a.pem"), text, 0o600))
	for name, c := range map[string]struct {
		flags []string
		want  string
	}{
		"in the work space":           {[]string{"--ca-bundle", "authority.pem"}, "lies in the work space"},
		"a link in the work space":    {[]string{"--ca-bundle", "link.pem"}, "lies in the work space"},
		"in what is writable":         {[]string{"--rw", filepath.Join(home, "sub"), "--ca-bundle", filepath.Join(home, "sub", "a.pem")}, "which the command can write"},
		"declared readable":           {[]string{"--ca-bundle", file, "--ro", file}, "is also denied"},
		"that has a second name":      {[]string{"--ca-bundle", twice}, "has another hard link"},
		"not there":                   {[]string{"--ca-bundle", "/nowhere/a.pem"}, "is not a file"},
		"without a key":               {[]string{"--ca-bundle", bare}, "rather than a key"},
		"without a certificate":       {[]string{"--ca-bundle", "/etc/hostname"}, "it contains no certificate"},
		"rules without an authority":  {nil, "cannot be checked inside TLS without an authority"},
		"rules without a proxy":       {[]string{"--net", "host", "--ca-bundle", file}, "cannot check requests"},
		"a rule that says nothing":    {[]string{"--ca-bundle", file, "--allow-request", "https://x"}, "host name or an address, not a URL"},
		"an authority that is a leaf": {[]string{"--ca-bundle", leafFile(p, file)}, "may not sign others"},
	} {
		args := append([]string{os.Getenv(programVariable), "run", "--allow-domain", registry}, c.flags...)
		o := p.run(append(append(args, rules...), "--", "echo", "ran")...)
		if o.err == nil || strings.Contains(o.stdout, "ran") || !strings.Contains(o.stderr, c.want) || strings.Contains(o.stderr, "PRIVATE") {
			t.Errorf("%s: want %q: %v", name, c.want, o)
		}
	}
}

// leafFile is a certificate that may not sign, with its key.
func leafFile(p *place, near string) string {
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{SerialNumber: big.NewInt(4), Subject: pkix.Name{CommonName: "leaf"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: must(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))})
	text = append(text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: must(x509.MarshalPKCS8PrivateKey(key))})...)
	file := filepath.Join(filepath.Dir(near), "leaf.pem")
	check(os.WriteFile(file, text, 0o600))
	return file
}

// The credential of the tests, and what servers have seen of it.
const theSecret = "correct-horse-battery-staple"

var (
	headers     []http.Header
	headersLock sync.Mutex
	watching    sync.Once
)

// seenHeaders has the servers keep the fields of requests to /seen/.
func seenHeaders(t *testing.T) (take func() []http.Header) {
	t.Helper()
	watching.Do(func() {
		theWorld.content.HandleFunc("/seen/", func(w http.ResponseWriter, r *http.Request) {
			headersLock.Lock()
			headers = append(headers, r.Header.Clone())
			headersLock.Unlock()
			served(w, r)
		})
	})
	take = func() (all []http.Header) {
		headersLock.Lock()
		defer headersLock.Unlock()
		all, headers = headers, nil
		return all
	}
	take()
	return take
}

// TestInjectedCredential: real clients send a credential that they do not have:
// the host of the rule gets it, in its field, and nobody else does.
func TestInjectedCredential(t *testing.T) {
	probetest.Whole(t)
	probetest.Need(t, "command:curl", "command:node", "command:python3", "command:git")
	take := seenHeaders(t)
	p := newPlace(t)
	p.environ = []string{"API_TOKEN=" + theSecret}
	inject := []string{"--inject", registry + " Authorization=API_TOKEN"}
	bearer := "Bearer " + theSecret
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("me:"+theSecret))
	for name, c := range map[string]struct{ script, want string }{
		"curl":          {`curl -sS -H "Authorization: Bearer $API_TOKEN" https://NAME/seen/`, bearer},
		"curl by user":  {`curl -sS -u "me:$API_TOKEN" https://NAME/seen/`, basic},
		"curl by proxy": {`curl -sS -x socks5h://127.0.0.1:1021 -H "Authorization: Bearer $API_TOKEN" https://NAME/seen/`, bearer},
		"node":          {`node -e "fetch('https://NAME/seen/',{headers:{Authorization:'Bearer '+process.env.API_TOKEN}}).then(r=>r.text()).then(console.log)"`, bearer},
		"python":        {`python3 -c "import os,urllib.request as u; print(u.urlopen(u.Request('https://NAME/seen/',headers={'Authorization':'Bearer '+os.environ['API_TOKEN']})).read().decode())"`, bearer},
		"git":           {`git -c http.extraHeader="Authorization: Bearer $API_TOKEN" ls-remote https://NAME/seen/ || echo served`, bearer},
	} {
		o := p.opened(inject, strings.ReplaceAll(c.script, "NAME", registry))
		got := take()
		if len(got) == 0 || got[0].Get("Authorization") != c.want || !strings.Contains(o.stdout, "served") {
			t.Errorf("%s: %v, want %s: %v", name, got, c.want, o)
		}
		if text := o.String() + o.evidence; strings.Contains(text, theSecret) {
			t.Errorf("%s: the secret is told: %s", name, text)
		}
	}
	for name, script := range map[string]string{
		"another field":         `curl -sS -H "X-Key: $API_TOKEN" -A "$API_TOKEN" "https://NAME/seen/?$API_TOKEN"`,
		"another host":          `curl -sSk -H "Authorization: Bearer $API_TOKEN" https://OTHER/seen/`,
		"another host's name":   `curl -sSk -H "Authorization: Bearer $API_TOKEN" -H "Host: OTHER" https://NAME/seen/`,
		"without TLS":           `curl -sS -H "Authorization: Bearer $API_TOKEN" http://NAME/seen/`,
		"without TLS, by proxy": `curl -sS -x http://127.0.0.1:1021 -H "Authorization: Bearer $API_TOKEN" http://NAME/seen/`,
		"in the body":           `curl -sS -d "Authorization: Bearer $API_TOKEN" https://NAME/seen/`,
	} {
		o := p.opened(inject, strings.NewReplacer("NAME", registry, "OTHER", other).Replace(script))
		if got := fmt.Sprint(take()); strings.Contains(got, theSecret) || !strings.Contains(got, "ethos-sentinel.API_TOKEN.") && name != "in the body" && name != "another host's name" {
			t.Errorf("%s: %s: %v", name, got, o)
		}
	}
	o := p.evidenced(append([]string{"--allow-domain", registry}, "--inject", "http://"+registry+" Authorization=API_TOKEN"),
		`curl -sS -H "Authorization: Bearer $API_TOKEN" http://`+registry+`/seen/; curl -sSk -H "Authorization: Bearer $API_TOKEN" https://`+registry+`/seen/`)
	if got := take(); len(got) != 2 || got[0].Get("Authorization") != bearer || got[1].Get("Authorization") != "Bearer ethos-sentinel.API_TOKEN." {
		t.Errorf("where there is no TLS: %v: %v", got, o)
	}
}

// TestSecretIsNowhereInside: nothing that a command can read has the secret.
func TestSecretIsNowhereInside(t *testing.T) {
	probetest.Need(t, "command:python3")
	p := newPlace(t)
	p.environ = []string{"API_TOKEN=" + theSecret}
	// The search is for the secret without its first byte, so that it does not find itself.
	p.write("search.py", `
import os, glob, re
needle = b"orrect-horse-battery" + b"-staple"
print("variable", os.environ["API_TOKEN"])
for name in glob.glob("/proc/[0-9]*/*") + glob.glob("/proc/[0-9]*/task/*/*"):
    if os.path.basename(name) in ("environ", "cmdline", "auxv", "stat", "status", "comm", "maps", "syscall", "stack"):
        try:
            if needle in open(name, "rb").read(): print("FOUND", name)
        except OSError: pass
pids = [p for p in os.listdir("/proc") if p.isdigit()]
print("processes", len(pids))
for pid in pids:
    if int(pid) == os.getpid(): continue
    try:
        maps, mem = open("/proc/%s/maps" % pid).read(), open("/proc/%s/mem" % pid, "rb", 0)
    except OSError as e:
        print("memory of", pid, e.strerror); continue
    for line in maps.splitlines():
        a, b = (int(x, 16) for x in line.split()[0].split("-"))
        try:
            mem.seek(a)
            if needle in mem.read(b - a): print("FOUND in memory of", pid, line)
        except (OSError, ValueError, OverflowError): pass
for root in ("/tmp", "/run", "/etc", os.environ["HOME"], "."):
    for at, dirs, files in os.walk(root):
        for f in files:
            if f == "search.py": continue
            try:
                if needle in open(os.path.join(at, f), "rb").read(1 << 20): print("FOUND", at, f)
            except OSError: pass
print("searched")
`)
	flags := []string{"--inject", registry + " Authorization=API_TOKEN"}
	o := p.opened(flags, "python3 search.py")
	if o.err != nil || !strings.Contains(o.stdout, "variable ethos-sentinel.API_TOKEN.\n") || !strings.Contains(o.stdout, "searched\n") || strings.Contains(o.stdout, "FOUND") {
		t.Errorf("%v", o)
	}
	if strings.Contains(o.String()+o.evidence, theSecret) {
		t.Errorf("the secret is told: %v\n%s", o, o.evidence)
	}
	twin := p.evidenced([]string{"--env", "API_TOKEN"}, "python3 search.py")
	if !strings.Contains(twin.stdout, "FOUND /proc/") {
		t.Errorf("the search finds nothing where the command has the secret: %v", twin)
	}
	for _, show := range [][]string{{"plan"}, {"plan", "--json"}} {
		args := append(append([]string{os.Getenv(programVariable)}, show...), "--ca-bundle", p.authority(), "--allow-domain", registry)
		o := p.run(append(append(args, flags...), "--", "true")...)
		if o.err != nil || strings.Contains(o.String(), theSecret) || strings.Contains(o.String(), "PRIVATE KEY") || !strings.Contains(o.stdout, "API_TOKEN") {
			t.Errorf("%q: %v", show, o)
		}
	}
}

// TestCredentialRefused: what would give the secret to the command, or put
// nothing in, ends the run before it starts, without naming the secret.
func TestCredentialRefused(t *testing.T) {
	p := newPlace(t)
	ca := []string{"--ca-bundle", p.authority()}
	for name, c := range map[string]struct {
		environ, flags []string
		want, hint     string
	}{
		"not set":          {nil, append(ca, "--inject", registry+" Authorization=API_TOKEN"), "the variable API_TOKEN is not set", "export API_TOKEN"},
		"empty":            {[]string{"API_TOKEN="}, append(ca, "--inject", registry+" Authorization=API_TOKEN"), "the variable API_TOKEN is not set", "export API_TOKEN"},
		"no authority":     {[]string{"API_TOKEN=" + theSecret}, []string{"--inject", registry + " Authorization=API_TOKEN"}, "cannot be injected inside TLS without an authority", "--ca-bundle FILE"},
		"passed as well":   {[]string{"API_TOKEN=" + theSecret}, append(ca, "--env", "API_TOKEN", "--inject", registry+" Authorization=API_TOKEN"), "is also passed to the command", "remove API_TOKEN from --env"},
		"set as well":      {[]string{"API_TOKEN=" + theSecret}, append(ca, "--env", "API_TOKEN=x", "--inject", registry+" Authorization=API_TOKEN"), "is also passed to the command", "remove API_TOKEN from --env"},
		"by another name":  {[]string{"API_TOKEN=" + theSecret, "COPY=x" + theSecret}, append(ca, "--env", "COPY", "--inject", registry+" Authorization=API_TOKEN"), "the variable COPY contains the value of API_TOKEN", "do not pass COPY"},
		"in the command":   {[]string{"API_TOKEN=" + theSecret}, append(ca, "--inject", registry+" Authorization=API_TOKEN", "--", "echo", "ran", theSecret), "the command line contains the value of API_TOKEN", "single quotes"},
		"two lines":        {[]string{"API_TOKEN=" + theSecret + "\nX: y"}, append(ca, "--inject", registry+" Authorization=API_TOKEN"), "cannot stand in a header field", "one line"},
		"PATH":             {nil, append(ca, "--inject", registry+" Authorization=PATH"), "PATH is a variable that programs obey", "rename the variable"},
		"a field of HTTP":  {[]string{"API_TOKEN=" + theSecret}, append(ca, "--inject", registry+" Host=API_TOKEN"), "not a header field that can carry one", "--inject 'api.example.com Authorization=API_TOKEN'"},
		"not by the proxy": {[]string{"API_TOKEN=" + theSecret}, append(ca, "--net", "host", "--inject", registry+" Authorization=API_TOKEN"), "cannot check requests or inject credentials", "--net proxy"},
	} {
		p.environ = c.environ
		args := []string{os.Getenv(programVariable), "run"}
		if !slices.Contains(c.flags, "--net") {
			args = append(args, "--allow-domain", registry)
		}
		args = append(args, c.flags...)
		if !slices.Contains(c.flags, "--") {
			args = append(args, "--", "echo", "ran")
		}
		o := p.run(args...)
		if o.err == nil || strings.Contains(o.stdout, "ran") || !strings.Contains(o.stderr, c.want) || !strings.Contains(o.stderr, c.hint) || strings.Contains(o.stderr, theSecret) {
			t.Errorf("%s: want %q, %q: %v", name, c.want, c.hint, o)
		}
	}
}

// TestSessionOpens: the commands of a session find what a run finds: sentinels,
// and programs that trust the authority. The secret is that of the session's
// start; a command that comes with it in its own environment does not get it.
func TestSessionOpens(t *testing.T) {
	probetest.Need(t, "command:node")
	take := seenHeaders(t)
	p := newPlace(t)
	p.environ = []string{"API_TOKEN=" + theSecret, "XDG_STATE_HOME=" + p.t.TempDir(), "XDG_RUNTIME_DIR=" + p.t.TempDir()}
	program := os.Getenv(programVariable)
	start := p.run(program, "session", "start", "--name", "opened", "--plain-git", "--ca-bundle", p.authority(), "--allow-domain", registry,
		"--allow-request", registry+" GET /seen/*", "--inject", registry+" Authorization=API_TOKEN")
	if start.err != nil {
		t.Fatal(start)
	}
	t.Cleanup(func() {
		if end := p.run(program, "session", "end", "opened"); end.err != nil {
			t.Error(end)
		}
	})
	fetch := `env; node -e "fetch('https://` + registry + `/seen/',{headers:{Authorization:'Bearer '+process.env.API_TOKEN}}).then(async r=>console.log(r.status, await r.text()))"`
	for name, variable := range map[string]string{"with the secret": "API_TOKEN=" + theSecret, "without it": "API_TOKEN="} {
		p.environ[0] = variable
		o := p.run(program, "run", "--session", "opened", "--", "sh", "-c", fetch)
		if got := take(); len(got) != 1 || got[0].Get("Authorization") != "Bearer "+theSecret || !strings.Contains(o.stdout, "200 served") || strings.Contains(o.String(), theSecret) {
			t.Errorf("%s: %v: %v", name, got, o)
		}
	}
	p.environ[0] = "API_TOKEN=" + theSecret
	for _, argv := range [][]string{{"--env", "API_TOKEN", "--", "env"}, {"--env", "X=" + theSecret, "--", "env"}, {"--", "echo", theSecret}} {
		o := p.run(append([]string{program, "run", "--session", "opened"}, argv...)...)
		if o.err == nil || strings.Contains(o.String(), theSecret) {
			t.Errorf("%q: %v", argv, o)
		}
	}
	if o := p.run(program, "run", "--session", "opened", "--", "sh", "-c", "curl -sS https://"+registry+"/other"); !strings.Contains(o.stdout, "denied-request") {
		t.Errorf("another path: %v", o)
	}
	shown := p.run(program, "session", "show", "opened")
	if strings.Contains(shown.String(), theSecret) || strings.Contains(shown.String(), "PRIVATE KEY") || !strings.Contains(shown.stdout, "API_TOKEN") {
		t.Errorf("shown: %v", shown)
	}
}
