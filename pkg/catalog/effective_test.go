package catalog

import (
	"strings"
	"testing"

	"ethos/pkg/capability"
)

// summary is what a test compares: profile, network, writes, granted by.
func summary(c capability.Set) string {
	net := c.Network.Mode
	if len(c.Network.AllowDomains) > 0 {
		net += "(" + strings.Join(c.Network.AllowDomains, " ") + ")"
	}
	return strings.Join([]string{c.SandboxProfile, net, strings.Join(c.WritePaths, " "), strings.Join(c.Tags, " "), strings.Join(c.GrantedBy, ", ")}, " | ")
}

func TestEffective(t *testing.T) {
	tool := func(id string) *Tool {
		found, ok := New(Config{}).Tool(id)
		if !ok {
			t.Fatalf("no tool %s", id)
		}
		return &found
	}
	config := capability.Repository{Adds: capability.Set{ReadPaths: []string{"/opt/sdk"}, WritePaths: []string{"build"}, Enforce: "cgroup"},
		NetworkTools: []capability.NetworkTool{{Tool: "node-packages", Mode: "proxy", AllowDomains: []string{"r.example"}}, {Tool: "make", Mode: "loopback"}}}
	at := capability.Space{Workspace: "/w", Home: "/h"}
	for name, c := range map[string]struct {
		config capability.Repository
		r      capability.Request
		want   string
	}{
		"a person's command":        {want: "workspace | loopback | . | loopback git | "},
		"an agent's command":        {r: capability.Request{Agent: true}, want: "agent-shell | loopback | . | loopback git | "},
		"a managed tool":            {r: Ask(capability.Request{}, tool("go-vet")), want: "lint-offline | none |  | no-network no-git | "},
		"an agent's managed tool":   {r: Ask(capability.Request{Agent: true}, tool("go-vet")), want: "lint-offline | none |  | no-network no-git | "},
		"tests":                     {r: Ask(capability.Request{}, tool("go-test")), want: "test-loopback | loopback | . | loopback git | "},
		"the network-capable entry": {r: Ask(capability.Request{}, tool("gemini-check")), want: "agent-network | proxy(generativelanguage.googleapis.com oauth2.googleapis.com) |  | network git | "},
		"a recognised tool":         {r: Ask(capability.Request{Agent: true}, tool("node-packages")), want: "agent-shell | loopback | . | loopback git | "},
		"a named profile":           {r: Ask(capability.Request{Profile: "build"}, tool("go-vet")), want: "build | loopback | . | loopback git | --profile build"},
		"a named tool":              {r: Ask(capability.Request{ToolNamed: true}, tool("go-vet")), want: "lint-offline | none |  | no-network no-git | --tool go-vet"},
		"configured, for a linter": {config, Ask(capability.Request{}, tool("go-vet")),
			"lint-offline | none | build | no-network no-git | repo_config.yaml:sandbox.read_paths, repo_config.yaml:sandbox.read_write_paths"},
		"configured, where it is writable already": {config, capability.Request{}, "workspace | loopback | . | loopback git | repo_config.yaml:sandbox.read_paths"},
		"configured network": {config, Ask(capability.Request{Agent: true}, tool("node-packages")),
			"agent-shell | proxy(r.example) | . | network git | repo_config.yaml:sandbox.read_paths, repo_config.yaml:sandbox.network_tools"},
		"a tool listed without domains, that has its loopback": {capability.Repository{NetworkTools: []capability.NetworkTool{{Tool: "go-test", Mode: "loopback"}}},
			Ask(capability.Request{}, tool("go-test")), "test-loopback | loopback | . | loopback git | "},
		"a linter listed without domains": {capability.Repository{NetworkTools: []capability.NetworkTool{{Tool: "go-vet", Mode: "loopback"}}},
			Ask(capability.Request{}, tool("go-vet")), "lint-offline | loopback |  | loopback no-git | repo_config.yaml:sandbox.network_tools"},
		"a tool that has these names": {capability.Repository{NetworkTools: []capability.NetworkTool{{Tool: "npm-audit", Mode: "proxy", AllowDomains: []string{"registry.npmjs.org"}}}},
			Ask(capability.Request{}, tool("npm-audit")), "agent-network | proxy(registry.npmjs.org) |  | network no-git | repo_config.yaml:sandbox.network_tools"},
		"plan mode, a person's": {r: capability.Request{Mode: "plan"}, want: "lint-offline | none |  | no-network git | "},
		"plan mode, tests":      {r: Ask(capability.Request{Mode: "plan"}, tool("go-test")), want: "lint-offline | none |  | no-network git | "},
		"plan mode, a linter":   {r: Ask(capability.Request{Mode: "plan"}, tool("go-vet")), want: "lint-offline | none |  | no-network no-git | "},
		"plan mode, configured": {config, capability.Request{Mode: "plan"}, "lint-offline | none |  | no-network git | repo_config.yaml:sandbox.read_paths"},
		"plan mode, granted":    {r: capability.Request{Mode: "plan", Grants: []string{"write=out"}}, want: "lint-offline | none | out | no-network git | --grant write=out"},
		"granted": {r: capability.Request{Grants: []string{"network=proxy", "domain=a.example", "write=/srv/x", "git=read"}},
			want: "workspace | proxy(a.example) | . /srv/x | network git | --grant network=proxy, --grant domain=a.example, --grant write=/srv/x, --grant git=read"},
	} {
		c.r.Space = at
		have, err := capability.Effective(c.config, c.r)
		if err != nil || summary(have) != c.want {
			t.Errorf("%s:\n have %s (%v)\n want %s", name, summary(have), err, c.want)
		}
		if c.config.Adds.Enforce != "" && have.Enforce != "cgroup" {
			t.Errorf("%s: enforce is %s", name, have.Enforce)
		}
		if have.RequiresNetwork != (have.Network.Mode == "proxy" || have.Network.Mode == "host") {
			t.Errorf("%s: requires_network %t with network %s", name, have.RequiresNetwork, have.Network.Mode)
		}
	}
}

// A sub-agent is given nothing that its parent may not use, whatever its tool,
// the repository and the command line give; without widening it keeps what both
// allow.
func TestSubAgentOnlyNarrows(t *testing.T) {
	at := capability.Space{Workspace: "/w", Home: "/h"}
	config := capability.Repository{Adds: capability.Set{ReadPaths: []string{"/opt/sdk"}, WritePaths: []string{"build"}},
		NetworkTools: []capability.NetworkTool{{Tool: "node-packages", Mode: "proxy", AllowDomains: []string{"r.example"}}}}
	requests := []capability.Request{
		{}, {Agent: true}, {Agent: true, Mode: "plan"}, {Profile: "agent-network"}, {Agent: true, Grants: []string{"network=host", "write=/srv/x", "git=full", "timeout=24h"}},
		{Agent: true, Grants: []string{"network=proxy", "domain=a.example", "env=TOKEN=x", "socket=/run/x.sock", "memory=9999999", "read=~/.cache/x"}},
	}
	for _, tool := range New(Config{}).Tools() {
		requests = append(requests, Ask(capability.Request{ToolNamed: true}, &tool))
	}
	for _, parent := range requests[:6] {
		parent.Space = at
		above, err := capability.Effective(capability.Repository{}, parent)
		if err != nil {
			t.Fatal(err)
		}
		for _, child := range requests {
			child.Space, child.Parent = at, &above
			have, err := capability.Effective(config, child)
			if err != nil {
				t.Fatal(err)
			}
			if over := capability.Widens(at, above, have); len(over) > 0 {
				t.Errorf("parent %s\n child %s\n  %v", summary(above), summary(have), over)
			}
		}
		parent.Parent = &above
		if same, err := capability.Effective(capability.Repository{}, parent); err != nil || len(capability.Widens(at, same, above)) > 0 {
			t.Errorf("a child that asks for what its parent has: %v, %v\n have %s\n want %s", err, capability.Widens(at, same, above), summary(same), summary(above))
		}
	}
}

func TestGrant(t *testing.T) {
	for text, want := range map[string]string{
		"network=host": "", "domain=*.example.com": "", "read=/x": "", "write=/srv/out": "", "cache=~/.c": "", "socket=/run/x.sock": "",
		"env=TOKEN": "", "env=A=b=c": "", "git=full": "", "timeout=600": "", "timeout=10m": "", "memory=512": "", "cpu=200": "", "pids=9": "", "files=9": "", "output=9": "",
		"network":        `grant "network" is not one of`,
		"network=open":   `grant network=open: network.mode: "open" is not one of none, loopback, proxy, host`,
		"write=.git":     "grant write=.git: no declaration can make git's own files writable",
		"write=a/.Git/x": "grant write=a/.Git/x: no declaration can make git's own files",
		"timeout=0":      "grant timeout=0: use seconds",
		"timeout=500ms":  "grant timeout=500ms: use seconds",
		"memory=-1":      "grant memory=-1: use a whole number above 0",
		"root=yes":       `grant "root=yes" is not one of network=`,
		"env==x":         "grant env==x: the variable name is empty",
	} {
		c, ok := capability.Profile("workspace")
		if !ok {
			t.Fatal("no profile workspace")
		}
		before := c
		err := capability.Grant(&c, text)
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)):
			t.Errorf("%s: %v, want %q", text, err, want)
		case want == "" && (len(c.GrantedBy) != 1 || c.GrantedBy[0] != "--grant "+text):
			t.Errorf("%s: granted_by %q", text, c.GrantedBy)
		case want == "" && text != "git=full" && len(capability.Widens(capability.Anywhere, before, c)) == 0 && !strings.HasPrefix(text, "timeout=6") && !narrows(text):
			t.Errorf("%s widens nothing", text)
		}
	}
}

// narrows reports grants that set a limit below the profile's.
func narrows(text string) bool {
	name, _, _ := strings.Cut(text, "=")
	return name == "timeout" || name == "memory" || name == "cpu" || name == "pids" || name == "files" || name == "output" || name == "read"
}

// What a person grants below a denied tree must not be without effect.
func TestGrantReadLiftsADeny(t *testing.T) {
	c, _ := capability.Profile("workspace")
	c.DenyReadPaths = []string{"/opt/secret"}
	if err := capability.Grant(&c, "read=/opt/secret/public"); err != nil {
		t.Fatal(err)
	}
	if a := capability.PathAccess(capability.Anywhere, c, "/opt/secret/public/x"); a.Read != capability.Granted {
		t.Errorf("have %v", a)
	}
	if a := capability.PathAccess(capability.Anywhere, c, "/opt/secret/x"); a.Read != capability.Denied {
		t.Errorf("the rest of the denied tree is %v", a)
	}
}

// TestScriptOfOpenedTools: programs that share a network share its rules and
// credentials; they are as lax as each of them may be, and trust one authority.
func TestScriptOfOpenedTools(t *testing.T) {
	entry := func(tool, sni, authority, name string) capability.NetworkTool {
		return capability.NetworkTool{Tool: tool, Mode: "proxy", AllowDomains: []string{name}, SNI: sni, CABundle: authority,
			AllowRequests: []string{name + " GET"}, Inject: []string{name + " X=T"}}
	}
	network := func(tools ...capability.NetworkTool) string {
		c := capability.Repository{NetworkTools: tools}
		s, err := capability.Effective(c, capability.Request{Parts: []string{"make", "npm-audit"}})
		if err != nil {
			t.Fatal(err)
		}
		n := s.Network
		return strings.Join([]string{n.SNI, n.CABundle, strings.Join(n.AllowDomains, " "), strings.Join(n.AllowRequests, ", "), strings.Join(n.Inject, ", ")}, " | ")
	}
	for _, c := range []struct{ have, want string }{
		{network(entry("make", "allow", "/a", "a"), entry("npm-audit", "", "/a", "b")), " | /a | a b | a GET, b GET | a X=T, b X=T"},
		{network(entry("make", "allow", "/a", "a"), entry("npm-audit", "allow", "/a", "b")), "allow | /a | a b | a GET, b GET | a X=T, b X=T"},
		{network(entry("make", "", "/a", "a"), entry("npm-audit", "", "/b", "b")), " | /a | a | a GET | a X=T"},
		{network(entry("make", "allow", "/a", "a")), " | /a | a | a GET | a X=T"},
	} {
		if c.have != c.want {
			t.Errorf("have %s\nwant %s", c.have, c.want)
		}
	}
}
