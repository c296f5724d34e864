package trace

import (
	"encoding/json"
	"strings"
	"testing"

	"ethos/pkg/record"
)

// network is what the evidence says of the network.
type network struct {
	Connections []record.Connection `json:"connections"`
	Denials     []record.Denial     `json:"denials"`
}

// evidence is what a run says of one refused connection.
func evidence(t *testing.T, c record.Connection) []byte {
	t.Helper()
	text, err := json.Marshal(network{[]record.Connection{c}, []record.Denial{c.Denial()}})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestRedactHosts: a secret that a command puts into the name of a host leaves
// no trace, whatever its case and however the name splits it.
func TestRedactHosts(t *testing.T) {
	alnum := "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	long := strings.Repeat("q7w8e9r0t1", 12)
	for name, test := range map[string]struct{ host, secret string }{
		"github":            {fake("ghp_", alnum[:36]) + ".attacker.example", alnum[:36]},
		"aws":               {"x." + fake("AKIA", "IOSFODNN7EXAMPLE") + ".attacker.example", "IOSFODNN7EXAMPLE"},
		"google":            {fake("AIza", alnum[27:62]) + ".attacker.example", alnum[27:62]},
		"after a dash":      {"a-" + fake("npm_", alnum[:36]) + ".attacker.example", alnum[:36]},
		"jwt":               {fake("eyJhbGciOiJI", ".", "eyJzdWIiOiIx", ".c2lnbmF0dXJl") + ".attacker.example", "c2lnbmF0dXJl"},
		"over labels":       {fake("sk-ant-", long[:56]) + "." + long[56:100] + "." + long[100:] + ".attacker.example", long[56:100]},
		"an assignment":     {"password=hunter2.attacker.example", "hunter2"},
		"a whole URL":       {"https://bob:hunter2@attacker.example/", "hunter2"},
		"a header, spelled": {"authorization: bearer " + alnum[:20], alnum[:20]},
	} {
		for form, host := range map[string]string{"as it is": test.host, "lower case": strings.ToLower(test.host)} {
			secret := strings.ToLower(test.secret)
			c := record.Connection{Door: record.DoorDNS, Name: host, Port: 443, Reason: "denied-by-allowlist", Detail: host + " is not allowed", Remedy: host + ":443"}
			out, n := NewRedactor().JSON(evidence(t, c))
			if n == 0 || strings.Contains(strings.ToLower(string(out)), secret) {
				t.Errorf("%s, %s: %d redacted: %s", name, form, n, out)
			}
			if err := record.DecodeStrict(out, &network{}); err != nil {
				t.Errorf("%s, %s: %v", name, form, err)
			}
			if again, n := NewRedactor().JSON(out); n != 0 {
				t.Errorf("%s, %s: redacted again: %s", name, form, again)
			}
		}
	}
}

// TestRedactNoHosts: names that speak of secrets, or look a little like one,
// are the twin: who allows them has to see them, with their ports.
func TestRedactNoHosts(t *testing.T) {
	for _, host := range []string{
		"token.actions.githubusercontent.com", "secretmanager.googleapis.com", "password.example", "oauth2.googleapis.com",
		"registry.npmjs.org", "xn--bcher-kva.example", "2001:db8::1", "asia-northeast1-docker.pkg.dev", "sk-tenant.example",
		"0123456789abcdef0123456789abcdef.r2.cloudflarestorage.com",
	} {
		c := record.Connection{Door: record.DoorConnect, Name: host, Port: 443, Address: "192.0.2.1:443", Via: "proxy.example:3128", Reason: "denied-by-allowlist", Remedy: host + ":443"}
		text := evidence(t, c)
		if out, n := NewRedactor().JSON(text); n != 0 {
			t.Errorf("%s: %s", host, out)
		}
	}
}

// TestRedactPorts tells a destination from a secret with a short number.
func TestRedactPorts(t *testing.T) {
	for script, want := range map[string]bool{
		"curl token.example.com:443":  false,
		"nc secret.internal.corp:22":  false,
		"set db.password:12345":       true,
		"set api.secret-token:1234":   true,
		"set token.example.com:s3cr3": true,
		"set token.example.com:44300": false,
	} {
		text, err := json.Marshal(map[string]string{"script": script})
		if err != nil {
			t.Fatal(err)
		}
		if out, n := NewRedactor().JSON(text); (n > 0) != want {
			t.Errorf("%s: %s", script, out)
		}
	}
}
