package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
)

// certificate makes a certificate and its key in PEM; signed by an authority, or
// one itself.
func certificate(t *testing.T, name string, by *tls.Certificate) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		BasicConstraintsValid: true, IsCA: by == nil, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, DNSNames: []string{name},
	}
	signer, parent := any(key), template
	if by != nil {
		signer, parent = by.PrivateKey, by.Leaf
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	text = append(text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...)
	pair, err := tls.X509KeyPair(text, text)
	if err != nil {
		t.Fatal(err)
	}
	return pair, string(text)
}

// TestInterceptionByConfiguration: what repo_config.yaml says of requests and
// credentials counts once a person has trusted it, through the whole pipe; the
// secret is in nothing that the pipe writes.
func TestInterceptionByConfiguration(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:curl", "command:jq")
	const secret = "correct-horse-battery-staple"
	var lock sync.Mutex
	var got []string
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lock.Lock()
		got = append(got, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		lock.Unlock()
		_, _ = w.Write([]byte("served\n"))
	}))
	servers, serversText := certificate(t, "authority of the servers", nil)
	pair, _ := certificate(t, "localhost", &servers)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	place := "localhost:" + strconv.Itoa(server.Listener.Addr().(*net.TCPAddr).Port)

	s := shellSession(t)
	s.write("~/servers.pem", serversText)
	s.env = append(s.env, "XDG_STATE_HOME="+t.TempDir(), "API_TOKEN="+secret, "SSL_CERT_FILE="+s.path("~/servers.pem"))
	_, own := certificate(t, "authority of the person", nil)
	s.write("~/authority.pem", own)
	s.write("repo_config.yaml", `sandbox:
  network_tools:
    - tool: transfer
      allow_domains: ["`+place+`"]
      mitm: {ca_bundle: ~/authority.pem}
      allow: [{host: "`+place+`", methods: [GET], paths: [/v1/*]}]
      inject: [{host: localhost, header: Authorization, from_env: API_TOKEN}]
`)
	run := func(method, path string) outcome {
		return s.shell(`ethos-facts -c 'curl -sS -X ` + method + ` -H "Authorization: Bearer $API_TOKEN" https://` + place + path + `' | ethos-decide | ethos-sandbox | tee line.json`)
	}
	untrusted := run("GET", "/v1/x")
	if strings.Contains(untrusted.stdout, "served\\n") || len(got) > 0 || !strings.Contains(untrusted.stderr, "ethos-decide trust") {
		t.Errorf("untrusted: %v\n%s", got, untrusted)
	}
	told := s.shell("ethos-decide trust --yes").mustSucceed(t)
	for _, part := range []string{"mitm ~/authority.pem", "allow " + place + " GET /v1/*", "inject localhost Authorization=API_TOKEN"} {
		if !strings.Contains(untrusted.stdout, part) {
			t.Errorf("%q is not named as a widening\n%s", part, untrusted)
		}
	}
	allowed := run("GET", "/v1/x")
	if !strings.Contains(allowed.stdout, `"text":"served\n"`) || len(got) != 1 || got[0] != "GET /v1/x Bearer "+secret {
		t.Errorf("allowed: %q\n%s", got, allowed)
	}
	refused := run("POST", "/v1/x")
	if strings.Contains(refused.stdout, `"text":"served\n"`) || len(got) != 1 || !strings.Contains(refused.stdout, `"remedy":"--allow-request '`+place+` POST /v1/x'"`) {
		t.Errorf("refused: %q\n%s", got, refused)
	}
	reports := s.shell("ethos-trace < line.json --sarif out.sarif; cat out.sarif; grep -rc '" + secret + "' line.json .git/coding-ethos; ethos-trace status 2>/dev/null; true")
	if !strings.Contains(reports.stdout, "add that rule to the list allow of transfer") {
		t.Errorf("the report has no remedy for the tool\n%s", reports)
	}
	for name, o := range map[string]outcome{"untrusted": untrusted, "trusted": told, "allowed": allowed, "refused": refused, "reports": reports} {
		if strings.Contains(o.stdout+o.stderr, secret) && name != "reports" || strings.Contains(o.stdout, "PRIVATE KEY") {
			t.Errorf("%s: the secret is told\n%s", name, o)
		}
	}
	for line := range strings.Lines(reports.stdout) {
		if file, count, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && strings.HasPrefix(file, ".git/coding-ethos") && count != "0" {
			t.Errorf("the secret is in %s", file)
		}
	}
	event := `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"curl -sS -H \"Authorization: Bearer $API_TOKEN\" https://` + place + `/v1/y"},"cwd":"` + s.dir + `"}`
	reply := s.feed(event, "ethos-facts --from claude | ethos-decide --reply claude --confine")
	for _, flag := range []string{"--ca-bundle", "--allow-request", "--inject"} {
		if !strings.Contains(reply.stdout, flag) {
			t.Errorf("the agent's call is not confined with %s\n%s", flag, reply)
		}
	}
	if o := s.feed(reply.stdout, "sh -c \"$(jq -r .hookSpecificOutput.updatedInput.command)\""); o.stdout != "served\n" || len(got) != 2 || got[1] != "GET /v1/y Bearer "+secret {
		t.Errorf("the agent's call: %q\n%s", got, o)
	}
	s.env = append(s.env, "API_TOKEN=")
	if o := run("GET", "/v1/x"); len(got) != 2 || !strings.Contains(o.stdout, "the variable API_TOKEN is not set") || !strings.Contains(o.stdout, "export API_TOKEN") {
		t.Errorf("without the variable: %q\n%s", got, o)
	}
}
