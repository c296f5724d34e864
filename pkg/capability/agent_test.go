package capability

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/egress/rule"
	"ethos/pkg/protected"
)

// TestAgents: each row is whole, and says of each place where credentials of that
// agent are kept that the agent cannot change it.
func TestAgents(t *testing.T) {
	for _, a := range Agents() {
		if named, ok := AgentNamed(a.Name); !ok || named.Name != a.Name || len(a.State) == 0 || len(a.Domains) == 0 {
			t.Errorf("%+v is not whole", a)
		}
		for _, program := range a.Programs {
			if found, ok := AgentOf([]string{"/usr/bin/" + program, "x"}); !ok || found.Name != a.Name {
				t.Errorf("%s is not found by %s", a.Name, program)
			}
		}
		if _, err := rule.ParseSet(a.Domains); err != nil {
			t.Errorf("%s: %v", a.Name, err)
		}
		for _, s := range a.State {
			for _, name := range s.Settings {
				if name != filepath.Base(name) || name == "." || name == ".." {
					t.Errorf("%s: %q is not a single name", a.Name, name)
				}
			}
			at, err := Expand(Space{Workspace: "/w", Home: "/home"}, func(string) string { return "" }, []string{s.Path})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range protected.Credentials() {
				if name, ok := strings.CutPrefix("/home/"+c.Path, at[0].Name+"/"); ok && !slices.Contains(s.Settings, name) {
					t.Errorf("%s: %s holds credentials, and is not among the settings", a.Name, c.Path)
				}
			}
		}
	}
	for _, argv := range [][]string{nil, {"sh", "codex"}, {"codexx"}, {""}} {
		if a, ok := AgentOf(argv); ok {
			t.Errorf("%q is taken for %s", argv, a.Name)
		}
	}
}

// TestForAgent: the model is reached in a network of names, beside what is
// allowed, and no other network gets names.
func TestForAgent(t *testing.T) {
	codex, _ := AgentNamed("codex")
	for mode, want := range map[string]bool{"": true, "proxy": true, "none": false, "host": false} {
		asked, err := FromFlags(WholeAgentProfile, "/w", func(flag string) []string {
			switch {
			case flag == "net" && mode != "":
				return []string{mode}
			case flag == "allow-domain" && want:
				return []string{"localhost:1"}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		asked.ForAgent(codex)
		whole := asked.Whole()
		if got := slices.Contains(whole.Network.AllowDomains, "api.openai.com"); got != want || slices.Contains(whole.Network.AllowDomains, "localhost:1") != want {
			t.Errorf("--net %q: %v", mode, whole.Network)
		}
		if !slices.Contains(whole.Env.Pass, "OPENAI_API_KEY") {
			t.Errorf("--net %q: %v", mode, whole.Env.Pass)
		}
	}
}
