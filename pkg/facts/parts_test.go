package facts

import (
	"os"
	"strings"
	"testing"

	"ethos/pkg/gitrepo"
	"ethos/pkg/record"
	"ethos/pkg/trust"
)

// TestPartsOfAScript: a script of several tools shares the names that its tools
// are listed with; one in which anything else runs is given none.
func TestPartsOfAScript(t *testing.T) {
	root := grow(t, "w/.git/HEAD", "w/repo_config.yaml")
	text := "sandbox:\n  network_tools:\n    - {tool: node-packages, allow_domains: [registry.npmjs.org]}\n" +
		"    - {tool: transfer, allow_domains: [api.example.com]}\n    - go-test\n    - {tool: make, mode: host}\n"
	if err := os.WriteFile(root+"/w/repo_config.yaml", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := New(Options{Trust: accepting(trust.Digest([]byte(text))), Git: gitrepo.Options{Home: root}})
	if err != nil {
		t.Fatal(err)
	}
	for script, want := range map[string]string{
		"npm ci && npm test":                              "proxy registry.npmjs.org",
		"cd web; npm ci && npm test && echo ok":           "proxy registry.npmjs.org",
		"npm ci > log.txt 2>&1 && npm test":               "proxy registry.npmjs.org",
		"npm ci && curl https://api.example.com/x | jq .": "proxy api.example.com registry.npmjs.org",
		"npm ci":                     "proxy registry.npmjs.org",
		"npm test && go test ./...":  "loopback ",
		"go test ./... && npm ci":    "proxy registry.npmjs.org",
		"make":                       "host ",
		"make && npm ci":             "proxy registry.npmjs.org", // the host's network is for make alone
		"npm ci && ./deploy.sh":      "loopback ",
		"npm ci && ./npm test":       "loopback ", // not the installed one
		"npm ci & npm test":          "loopback ",
		"X=1 npm ci && npm test":     "loopback ",
		"npm ci && $TOOL":            "loopback ",
		"npm ci && python3 < gen.py": "loopback ",
		"npm ci && (":                "loopback ",
	} {
		a := record.Action{Kind: record.KindShell, Script: script, Cwd: root + "/w", Workspace: root + "/w"}
		for mode, want := range map[string]string{record.ModeSafe: want, record.ModePlan: "none "} {
			f, err := d.Derive(a, record.Actor{Agent: "claude", Mode: mode})
			if err != nil {
				t.Fatal(err)
			}
			n := f.Capabilities.Network
			if have := n.Mode + " " + strings.Join(n.AllowDomains, " "); have != want {
				t.Errorf("%s, %s: %s, want %s", script, mode, have, want)
			}
			if len(f.Capabilities.Env.Pass) > 0 {
				t.Errorf("%s: %q are passed", script, f.Capabilities.Env.Pass)
			}
		}
	}
	// Nobody trusts it: nothing is given.
	d, err = New(Options{Git: gitrepo.Options{Home: root}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Derive(record.Action{Kind: record.KindShell, Script: "npm ci && npm test", Cwd: root + "/w", Workspace: root + "/w"}, record.Actor{Mode: record.ModeSafe})
	if err != nil || f.Capabilities.Network.Mode != "loopback" {
		t.Errorf("untrusted: %+v, %v", f.Capabilities.Network, err)
	}
}
