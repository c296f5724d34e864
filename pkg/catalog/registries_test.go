package catalog

import (
	"slices"
	"testing"

	"ethos/pkg/capability"
)

// TestRegistries: what a package manager needs is what it gets once a person has
// approved it without saying more, and what the profile agent-network has.
func TestRegistries(t *testing.T) {
	agent, ok := capability.Profile("agent-network")
	if !ok || agent.Network.Mode != "proxy" {
		t.Fatalf("agent-network: %+v", agent.Network)
	}
	for _, text := range agent.Network.AllowDomains {
		if err := capability.CheckDomain(text); err != nil {
			t.Error(err)
		}
	}
	npm, pypi := []string{"registry.npmjs.org"}, []string{"pypi.org", "files.pythonhosted.org"}
	crates, modules := []string{"index.crates.io", "static.crates.io"}, []string{"proxy.golang.org", "sum.golang.org"}
	for command, needs := range map[string][]string{
		"npm ci": npm, "npm install x": npm, "pnpm install": npm, "yarn install": append([]string{"registry.yarnpkg.com"}, npm...),
		"pip install x": pypi, "python3 -m pip install x": pypi, "uv sync": pypi, "uv pip install x": pypi,
		"cargo fetch": crates, "cargo add x": crates, "cargo install x": crates, "go get x": modules, "go mod download": modules, "go install example.com/x@latest": modules,
	} {
		tool, _, ok := New(Config{}).Match(argv(command))
		if !ok {
			t.Errorf("%s: no tool", command)
			continue
		}
		config, err := ParseConfig("c", []byte("sandbox: {network_tools: ["+tool.ID+"]}"))
		if err != nil {
			t.Errorf("%s: %v", command, err)
			continue
		}
		s, err := capability.Effective(config.Repository, Ask(capability.Request{Agent: true}, &tool))
		for _, name := range needs {
			if err != nil || s.Network.Mode != "proxy" || !slices.Contains(s.Network.AllowDomains, name) || !slices.Contains(agent.Network.AllowDomains, name) {
				t.Errorf("%s (%s) needs %s: %+v, %v", command, tool.ID, name, s.Network, err)
			}
		}
	}
}
