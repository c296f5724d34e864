package catalog

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ethos/pkg/capability"
)

func TestParseConfig(t *testing.T) {
	have, err := ParseConfig("repo_config.yaml", []byte(`
version: 1
sandbox:
  read_paths: [/opt/sdk, "~/data?"]
  read_write_paths: [build, ./dist/]
  network_tools:
    - npm-audit
    - {tool: node-packages, allow_domains: [registry.example.com]}
    - {tool: make, mode: loopback}
  enforce: cgroup
tools:
  - id: house-lint
    category: lint
    format: gnu
    match: [house lint, {argv: house lint --json, format: house-json}]
    capabilities: {timeout_seconds: 60, tags: [no-network]}
git:
  protected_branches: [main, release/*]
`))
	if err != nil {
		t.Fatal(err)
	}
	tools := have.Tools
	have.Tools = nil
	want := Config{
		Repository: capability.Repository{
			Adds: capability.Set{ReadPaths: []string{"/opt/sdk", "~/data?"}, WritePaths: []string{"build", "./dist/"}, Enforce: "cgroup"},
			NetworkTools: []capability.NetworkTool{
				{Tool: "npm-audit", Mode: "proxy", AllowDomains: []string{"registry.npmjs.org", "registry.yarnpkg.com"}},
				{Tool: "node-packages", Mode: "proxy", AllowDomains: []string{"registry.example.com"}},
				{Tool: "make", Mode: "loopback"},
			},
		},
		ProtectedBranches: []string{"main", "release/*"},
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
	if len(tools) != 1 || tools[0].Capabilities.SandboxProfile != capability.DefaultToolProfile || tools[0].Capabilities.TimeoutSeconds != 60 || tools[0].Capabilities.MemoryMB != 2048 {
		t.Errorf("tools: %+v", tools)
	}
	c := New(Config{Tools: tools})
	if tool, form, ok := c.Match(argv("house lint --json")); !ok || tool.ID != "house-lint" || form.Format != "house-json" {
		t.Errorf("the added tool does not match: %v %v", tool.ID, form)
	}
	if _, _, ok := c.Match(argv("go vet")); !ok {
		t.Error("the shipped tools are gone")
	}
}

// TestNetworkToolWithoutDomains: a tool alone means what the catalog knows that
// it needs, and its own loopback where that is nothing; the file says so and
// loads.
func TestNetworkToolWithoutDomains(t *testing.T) {
	for entry, want := range map[string]struct {
		mode    string
		domains []string
		note    string
	}{
		"go-test":         {"loopback", nil, "c:1:27: network_tools: go-test has no domains, so it gets its own loopback and nothing else; for more, write {tool: go-test, allow_domains: [example.com]}"},
		"{tool: go-test}": {"loopback", nil, "its own loopback and nothing else"},
		"{tool: node-packages, allow_domains: []}": {"loopback", []string{}, "its own loopback and nothing else"},
		"{tool: go-test, mode: loopback}":          {"loopback", nil, ""},
		"npm-audit":                                {"proxy", []string{"registry.npmjs.org", "registry.yarnpkg.com"}, ""},
		"{tool: go-test, mode: proxy, allow_domains: [A.example, '*.b.example:8443']}": {"proxy", []string{"A.example", "*.b.example:8443"}, ""},
		"{tool: database, allow_domains: ['localhost:5432']}":                          {"proxy", []string{"localhost:5432"}, ""},
		"database": {"loopback", nil, "database has no domains"},
		"{tool: go-test, allow_domains: [a.example]}": {"proxy", []string{"a.example"}, ""},
	} {
		have, err := ParseConfig("c", []byte("sandbox: {network_tools: ["+entry+"]}\n"))
		if err != nil {
			t.Errorf("%s: %v", entry, err)
			continue
		}
		if n := have.NetworkTools[0]; n.Mode != want.mode || !slices.Equal(n.AllowDomains, want.domains) {
			t.Errorf("%s: %+v", entry, n)
		}
		if notes := strings.Join(have.Notes, "\n"); !strings.Contains(notes, want.note) || (notes == "") != (want.note == "") {
			t.Errorf("%s: notes %q", entry, notes)
		}
	}
}

// TestOpenedTool: rules of requests and credentials are written in parts or as
// flags have them.
func TestOpenedTool(t *testing.T) {
	for _, text := range []string{
		"allow: [{host: A.example, methods: [HEAD, GET], paths: [/v1/*]}], inject: [{host: a.example, header: X, from_env: T}, {host: 'http://b.example', header: Y, from_env: U}]",
		"allow: ['a.example GET,HEAD /v1/*'], inject: [a.example X=T, 'http://b.example Y=U']",
	} {
		have, err := ParseConfig("c", []byte("sandbox: {network_tools: [{tool: transfer, allow_domains: [a.example, b.example], sni: require, mitm: {ca_bundle: ~/a.pem}, "+text+"}]}\n"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		want := capability.NetworkTool{Tool: "transfer", Mode: "proxy", AllowDomains: []string{"a.example", "b.example"}, SNI: "require", CABundle: "~/a.pem",
			AllowRequests: []string{"a.example GET,HEAD /v1/*"}, Inject: []string{"a.example X=T", "http://b.example Y=U"}}
		if diff := cmp.Diff(want, have.NetworkTools[0]); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	plain := "sandbox: {network_tools: [{tool: transfer, allow_domains: [b.example], inject: ['http://b.example Y=U']}]}\n"
	if _, err := ParseConfig("c", []byte(plain)); err != nil {
		t.Errorf("a credential without TLS needs no authority: %v", err)
	}
}

func TestConfigWithNothingInIt(t *testing.T) {
	for _, text := range []string{"", "# nothing yet\n", "sandbox:\n", "sandbox:\n  # read_paths: []\ngit:\n"} {
		if have, err := ParseConfig("c", []byte(text)); err != nil || len(have.Tools) > 0 {
			t.Errorf("%q: %+v, %v", text, have, err)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for text, want := range map[string]string{
		"sandbox:\n  read_write_path: [x]\n":                                                          `c:2:3: unknown key "read_write_path" in sandbox | did you mean "read_write_paths"?`,
		"sandboxed: {}\n":                                                                             `c:1:1: unknown key "sandboxed" in the file | did you mean "sandbox"?`,
		"sandbox: {read_paths: [x]}\nsandbox: {}\n":                                                   `c:2:1: key "sandbox" occurs twice in the file | `,
		"sandbox: {read_paths: /opt}\n":                                                               `c:1:23: read_paths must be a list | write it as a list: [/opt]`,
		"sandbox: {read_paths: [1]}\n":                                                                `c:1:24: read_paths[0] must be a string | quote it: "1"`,
		"sandbox: {read_paths: [\"\"]}\n":                                                             `c:1:24: read_paths[0] must be a string that is not empty | `,
		"sandbox: {read_paths: [$HOME/x]}\n":                                                          `c:1:24: path "$HOME/x": variables and wildcards are not supported here | name the directory`,
		"sandbox: {read_write_paths: [.git]}\n":                                                       `c:1:30: path ".git" would make .git writable | no declaration can make git's own files writable; ethos-git and the sandbox handle them`,
		"sandbox:\n  read_write_paths:\n    - build\n    - sub/.GIT/hooks\n":                          `c:4:7: path "sub/.GIT/hooks" would make .git writable | no declaration can make git's own files writable; ethos-git and the sandbox handle them`,
		"sandbox: {read_write_paths: [a/../.git]}\n":                                                  `c:1:30: path "a/../.git" would make .git writable | no declaration can make git's own files writable; ethos-git and the sandbox handle them`,
		"sandbox: {read_write_paths: [/]}\n":                                                          `c:1:30: path "/" is too wide | name a directory further down`,
		"sandbox: {read_write_paths: [a/../..]}\n":                                                    `c:1:30: path "a/../.." is too wide to be writable | name a directory of the work space, or a separate one`,
		"sandbox: {read_paths: [\"~\"]}\n":                                                            `c:1:24: path "~" is too wide | name a directory further down`,
		"sandbox: {read_paths: [~/.ssh/id]}\n":                                                        `c:1:24: path "~/.ssh/id" holds credentials | it stays hidden; give the command the one value that it needs: ethos-facts --grant env=NAME`,
		"sandbox: {read_paths: [~/.config/OP/x]}\n":                                                   `c:1:24: path "~/.config/OP/x" holds credentials | `,
		"sandbox: {read_write_paths: [/home/u/.AWS]}\n":                                               `c:1:30: path "/home/u/.AWS" holds credentials | `,
		"sandbox: {env_files: shown}\n":                                                               `c:1:22: env_files: "shown" is not known | write hidden or read`,
		"sandbox: {nested_userns: all}\n":                                                             `c:1:26: nested_userns: "all" is not known | write none, namespaces or mounts`,
		"sandbox: {enforce: hard}\n":                                                                  `c:1:20: enforce: "hard" is not known | write cgroup or available`,
		"sandbox: {network_tools: [npm-audti]}\n":                                                     `c:1:27: network_tools: no tool "npm-audti" | did you mean "npm-audit"?`,
		"sandbox: {network_tools: [{tool: make, mode: proxy}]}\n":                                     `c:1:27: network_tools: make has no domains that it may reach | write {tool: make, allow_domains: [example.com]}`,
		"sandbox: {network_tools: [{tool: node-packages, mode: proxy, allow_domains: []}]}\n":         `c:1:27: network_tools: node-packages has no domains that it may reach | write {tool: node-packages, allow_domains: [example.com]}`,
		"sandbox: {network_tools: [{tool: make, mode: host, allow_domains: [a.example]}]}\n":          `c:1:27: network_tools: make: domains are for mode proxy, not for host | remove mode or the domains`,
		"sandbox: {network_tools: [{tool: make, mode: open}]}\n":                                      `c:1:27: network_tools: mode "open" is not known | write loopback, proxy or host`,
		"sandbox: {network_tools: [{tool: make, allow_domains: [a.example, 'https://b.example']}]}\n": `c:1:67: network_tools: make: pattern "https://b.example": write a host name or an address, not a URL | `,
		"sandbox: {network_tools: [{tool: make, allow_domains: ['010.0.0.1']}]}\n":                    `c:1:56: network_tools: make: pattern "010.0.0.1": write the address as 8.0.0.1 | `,
		"tools: [{id: x, match: [x], capabilities: {network: {deny_domains: ['*x']}}}]\n":             `c:1:9: tool x: network.deny_domains: pattern "*x": a star stands for whole labels, at the front: *.example.com | `,
		"sandbox: {network_tools: [{tool: make, allow_domains: [localhost]}]}\n":                      "c:1:56: network_tools: make: pattern \"localhost\": this would allow every service of this machine; name the port of one, such as localhost:5432 | ",
		"sandbox: {network_tools: [{tool: make, allow_domains: [127.0.0.0/8]}]}\n":                    "c:1:56: network_tools: make: pattern \"127.0.0.0/8\": this would allow every service of this machine",
		"sandbox: {network_tools: [{tool: npm-audit, sni: open}]}\n":                                  `c:1:50: network_tools: npm-audit: sni "open" is not known | write require or allow`,
		"sandbox: {network_tools: [{tool: make, sni: allow}]}\n":                                      "c:1:45: network_tools: make: sni is for mode proxy, not for loopback | write {tool: make, allow_domains: [example.com]}",
		"sandbox: {network_tools: [{tool: npm-audit, allow: [{host: a.example, methods: [get]}], mitm: {ca_bundle: ~/a.pem}}]}\n": `c:1:53: network_tools: npm-audit: allow: request rule for a.example: "get" is not a method; write methods as GET,HEAD | `,
		"sandbox: {network_tools: [{tool: npm-audit, allow: [a.example GET]}]}\n":                                                 `c:1:53: network_tools: npm-audit: allow: requests to a.example cannot be checked inside TLS | name the file with the certificate and the key of your authority`,
		"sandbox: {network_tools: [{tool: npm-audit, inject: [{host: a.example, header: X, from_env: T}]}]}\n":                    `c:1:54: network_tools: npm-audit: inject: T for a.example cannot be injected inside TLS | name the file`,
		"sandbox: {network_tools: [{tool: npm-audit, inject: [{host: '*.example', header: X, from_env: T}]}]}\n":                  `c:1:54: network_tools: npm-audit: inject: credential for "*.example": `,
		"sandbox: {network_tools: [{tool: make, mitm: {ca_bundle: ~/a.pem}}]}\n":                                                  `c:1:27: network_tools: make: mitm, allow and inject are for mode proxy, not for loopback | write {tool: make`,
		"sandbox: {network_tools: [{tool: npm-audit, mitm: {bundle: ~/a.pem}}]}\n":                                                `c:1:52: unknown key "bundle" in mitm | `,
		"sandbox: {network_tools: [{tol: make}]}\n":                                                                               `c:1:28: unknown key "tol" in network_tools[0] | did you mean "tool"?`,
		"git: {protected_branches: main}\n":                                                                                       `c:1:27: protected_branches must be a list | write it as a list: [main]`,
		"git: {protected_branches: }\n":                                                                                           `c:1:27: protected_branches has no value | remove the key, or give it a value`,
		"version: 2\n":                                                                                                            `c:1:1: version 2 is not supported | this ethos reads version 1`,
		"version: one\n":                                                                                                          `c:1:10: version must be a whole number, 0 or more | `,
		"a: &x 1\n":                                                                                                               `c:1:1: unknown key "a" in the file | known are git, tools, sandbox, version`,
		"sandbox: &x {}\n":                                                                                                        `c:1:10: sandbox: anchors and aliases are not supported | write the value out`,
		"[1, 2]\n":                                                                                                                `c:1:1: the file must be a mapping | known keys are version, sandbox, tools, git`,
		"git: {}\n---\ngit: {}\n":                                                                                                 `c:2:1: the file holds more than one YAML document | `,
		"git: {\n":                                                                                                                `c:1:1: did not find expected node content | the file must be valid YAML`,
		"\tgit: {}\n":                                                                                                             `c:1:1: a tab at the beginning of a line: YAML takes spaces there | the file must be valid YAML`,
		"git:\n  protected_branches:\n    - main\n\t- two\n":                                                                      `c:4:1: a tab at the beginning of a line: YAML takes spaces there | the file must be valid YAML`,
		"git:\n  protected_branches: main,\n    or\n\n  \ttwo\n":                                                                  `c:5:1: a tab at the beginning of a line: YAML takes spaces there | the file must be valid YAML`,
		"tools:\n  - id: |\n      x\n      \tx is content\n \tx\n":                                                                `c:5:1: a tab at the beginning of a line: YAML takes spaces there | the file must be valid YAML`,
		"tools:\n  - id: >\n\n\n\tx\n":                                                                                            `c:5:1: a tab at the beginning of a line: YAML takes spaces there | the file must be valid YAML`,
		"git:\n\tprotected_branches: []\n":                                                                                        `c:2:1: a tab at the beginning of a line: YAML takes spaces there | the file must be valid YAML`,
		"tools: [{id: x, match: [x], capabilities: {requires_processes: true}}]\n":                                                `c:1:44: key "requires_processes" in capabilities no longer exists | remove it: it had no effect; every command sees only the processes that it started`,
		"tools: [{id: x, match: [x], capabilites: {}}]\n":                                                                         `c:1:29: unknown key "capabilites" in tools[0] | did you mean "capabilities"?`,
		"tools: [{id: x}]\n":                                                                                                      `c:1:9: a tool needs an id and at least one form in match | `,
		"tools: [{id: x, match: ['!-x']}]\n":                                                                                      `c:1:9: form "!-x" must begin with the name of a program | `,
		"tools: [{id: x, match: [x], capabilities: {sandbox_profile: lint}}]\n":                                                   `c:1:9: tool x: no profile "lint"; known are agent, build, debug, lint-offline, agent-shell, workspace, agent-network, test-loopback | `,
		"tools: [{id: x, match: [x], capabilities: {write_paths: [out]}}]\n":                                                      `c:1:9: tool x goes past its profile lint-offline: write_paths: out: read granted, write granted is more than read granted, write by default | `,
		"tools: [{id: x, match: [x], capabilities: {network: {mode: host}}}]\n":                                                   `c:1:9: tool x goes past its profile lint-offline: network.mode: host is more than none | `,
		"tools: [{id: x, match: [x], capabilities: {memory_mb: 9999}}]\n":                                                         `c:1:9: tool x goes past its profile lint-offline: memory_mb: 9999 is more than 2048 | `,
		"tools: [{id: x, match: [x], capabilities: {memory_mb: 0}}]\n":                                                            `c:1:9: tool x goes past its profile lint-offline: memory_mb: no limit is more than 2048 | `,
		"tools: [{id: x, match: [x], capabilities: {tags: [network]}}]\n":                                                         `c:1:9: tool x: tag "network" contradicts the declaration, which says: no-network no-git | `,
		"tools: [{id: x, match: [x], capabilities: {requires_network: true}}]\n":                                                  `c:1:9: tool x: requires_network: true contradicts the rest of the declaration (network none, git none) | `,
		"tools: [{id: x, match: [x], capabilities: {git: some}}]\n":                                                               `c:1:9: tool x: git: "some" is not one of none, read, wrapped, full | `,
		"tools: [{id: x, match: [x], capabilities: {cache_paths: ['@gone']}}]\n":                                                  `c:1:9: tool x: no set "@gone" | `,
		"tools: [{id: x, match: [x], capabilities: {deny_read_paths: ['${X}']}}]\n":                                               `c:1:9: tool x: ${X}: a deny, or an exception from one, must not depend on a variable | `,
		"tools: [{id: x, match: [x], capabilities: {sandbox_profile: agent-network}}]\n":                                          `c:1:9: tool x cannot give itself network access | declare it with a profile without network, and list it under sandbox.network_tools`,
		"tools: [{id: go-vet, match: [go vet], capabilities: {sandbox_profile: workspace, env: {set: {}}}}]\n":                    `c:1:9: tool go-vet may only narrow the one that ships: `,
		"tools: [{id: go-vet, match: [go vet], capabilities: {timeout_seconds: 301}}]\n":                                          `c:1:9: tool go-vet goes past its profile lint-offline: timeout_seconds: 301 is more than 300 | `,
		"sandbox: {read_paths: [x]} # " + strings.Repeat("x", maxFile):                                                            `c: the file is longer than 1048576 bytes | `,
	} {
		_, err := ParseConfig("c", []byte(text))
		var invalid *ConfigError
		if !errors.As(err, &invalid) {
			t.Errorf("%.80q: no ConfigError: %v", text, err)
			continue
		}
		if have := invalid.Error() + " | " + invalid.Hint; !strings.HasPrefix(have, want) {
			t.Errorf("%.80q:\n have %s\n want %s", text, have, want)
		}
	}
}

func TestConfigMayNarrowAShippedTool(t *testing.T) {
	have, err := ParseConfig("c", []byte("tools: [{id: go-vet, match: [go vet], capabilities: {timeout_seconds: 30, cache_paths: [], env: {set: {}}}}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	tool, _, ok := New(have).Match(argv("go vet ./..."))
	if !ok || tool.Capabilities.TimeoutSeconds != 30 || len(tool.Capabilities.CachePaths) != 0 {
		t.Errorf("have %+v", tool.Capabilities)
	}
	if shipped, _, _ := New(Config{}).Match(argv("go vet ./...")); shipped.Capabilities.TimeoutSeconds != 300 {
		t.Error("the shipped catalog was changed")
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("sandbox: {read_write_paths: [build]}\ntools: [{id: x, match: [x]}]\n"))
	f.Add([]byte("git: {protected_branches: [main]}\n---\n"))
	f.Add([]byte("sandbox:\n  network_tools: [{tool: npm-audit, mode: host}]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		config, err := ParseConfig("c", text)
		var invalid *ConfigError
		if err != nil && !errors.As(err, &invalid) {
			t.Fatalf("not a ConfigError: %v", err)
		}
		for _, p := range config.Adds.WritePaths {
			if capability.InGit(p) {
				t.Fatalf("%q would be writable", p)
			}
		}
	})
}
