package setup

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"ethos/pkg/agent"
	"ethos/pkg/internal/docblock"
	"ethos/pkg/protected"
)

// TestDocsNameTheAgents: the lists of agents and of their paths in docs/ are those of the data.
func TestDocsNameTheAgents(t *testing.T) {
	const docs = "../../../docs/"
	docblock.Check(t, *update, docs+"agents.md", "agents", settingsTable())
	docblock.Check(t, *update, docs+"facts.md", "dialects", quoted(agent.Names()))
	for owner, name := range map[protected.Owner]string{protected.Settings: "agent paths", protected.Editor: "editor paths"} {
		var paths []string
		for _, n := range protected.Names() {
			if n.Owner == owner {
				paths = append(paths, n.Path)
			}
		}
		docblock.Check(t, *update, docs+"sandbox.md", name, quoted(paths))
	}
	docblock.Check(t, *update, "../../../README.md", "agents", quoted(agent.Names()))
}

func quoted(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }

// settingsTable says where each agent's settings with the hook are.
func settingsTable() string {
	var b strings.Builder
	b.WriteString("\n| agent | `AGENT` | your own settings (`--user`, the default) | a project's (`--project`) | recipe |\n|---|---|---|---|---|\n")
	for _, a := range Agents() {
		var user, project, recipe []string
		for _, f := range a.files {
			own := path.Join(a.User, f.name)
			if variable, rest, ok := strings.Cut(strings.TrimPrefix(own, "${"), ":-"); ok {
				usual, below, _ := strings.Cut(rest, "}")
				own = "$" + variable + below + "`, `" + usual + below
			}
			in := path.Join(a.Project, f.name)
			if f.root {
				in = f.name
			}
			user, project = append(user, own), append(project, in)
			recipe = append(recipe, fmt.Sprintf("[%s](../examples/%s)", path.Base(f.name), f.example))
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s |\n", a.Title, a.Name, quoted(user), quoted(project), strings.Join(recipe, ", "))
	}
	return b.String()
}
