package main

import (
	"os"
	"strings"
	"testing"

	"ethos/pkg/capability"
	"ethos/pkg/catalog"
	"ethos/pkg/hook"
)

// What docs/facts.md shows is true: its configuration is valid, and it leaves no name out.
func TestDocsAreTrue(t *testing.T) {
	text, err := os.ReadFile("../../docs/facts.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	config, err := catalog.ParseConfig("docs/facts.md", []byte(example))
	if err != nil || len(config.NetworkTools) != 6 || len(config.Notes) != 1 || len(config.Tools) != 1 {
		t.Errorf("the example: %v, %+v", err, config)
	}
	names := append(hook.Dialects(), capability.ProfileNames()...)
	for _, form := range capability.GrantForms() {
		name, _, _ := strings.Cut(form, "=")
		names = append(names, name+"=")
	}
	for _, name := range names {
		if !strings.Contains(string(text), "`"+name) {
			t.Errorf("docs/facts.md does not name %s", name)
		}
	}
	for _, p := range capability.Profiles() {
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "| `"+p.Name+"` |") && !strings.HasSuffix(strings.TrimSpace(line), "| "+p.Set.Git+" |") {
				t.Errorf("docs/facts.md: %s has git %s", p.Name, p.Set.Git)
			}
		}
	}
}
