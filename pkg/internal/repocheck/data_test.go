package repocheck

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ethos/pkg/agent"
	"ethos/pkg/protected"
)

// spelled are the places where Go code may spell an agent's name or a path of the data itself, with how often: an example,
// a documented special case, a word with another meaning. A number only falls.
var spelled = map[string]int{
	"cmd/ethos-decide/command.go": 2, // examples
	"cmd/ethos-decide/corpus.go":  1,
	"cmd/ethos-facts/command.go":  1, // an example
	"pkg/gitargs/inert.go":        1, // an editor
	"pkg/sandbox/signing/look.go": 1, // where gpg looks
}

// TestKnowledgeIsData holds that Go code has the names of agents and the paths of agents, credentials and settings from
// pkg/catalog/data, not written out a second time. The two files of an agent may name it.
func TestKnowledgeIsData(t *testing.T) {
	known := ofTheData()
	found, where := map[string]int{}, map[string][]string{}
	tr := load(t)
	for _, s := range tr.sources {
		if s.test || ast.IsGenerated(s.file) || within(s.dir, "pkg/internal") || ofOneAgent(s.path) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if m := known.FindStringSubmatch(text); err == nil && m != nil {
				found[s.path]++
				where[s.path] = append(where[s.path], strconv.Itoa(tr.fset.Position(literal.Pos()).Line)+" "+m[1])
			}
			return true
		})
	}
	for name, n := range found {
		if n > spelled[name] {
			t.Errorf("%s: %d of the data's names and paths are spelled in strings (%s), %d may be: put them into pkg/catalog/data",
				name, n, strings.Join(where[name], ", "), spelled[name])
		}
	}
	for name, n := range spelled {
		if found[name] < n {
			t.Errorf("%s: spells %d of the data's names and paths: let spelled say so, not %d", name, found[name], n)
		}
	}
}

// ofTheData matches the name of an agent, or a path of the data that belongs to an agent or an editor or holds credentials.
func ofTheData() *regexp.Regexp {
	list := agent.Names()
	for _, n := range protected.Names() {
		if n.Owner != protected.Ethos {
			list = append(list, n.Path)
		}
	}
	for _, c := range protected.Credentials() {
		list = append(list, c.Path)
	}
	slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	for i := range list {
		list[i] = regexp.QuoteMeta(list[i])
	}
	return regexp.MustCompile(`(?:^|[^\w.-])(` + strings.Join(list, "|") + `)(?:$|[^\w:-])`)
}

// ofOneAgent reports whether a file is one of the two that an agent has.
func ofOneAgent(name string) bool {
	dir, base := path.Split(name)
	of, ok := strings.CutPrefix(strings.TrimSuffix(base, ".go"), "agent_")
	return ok && (dir == "pkg/hook/" || dir == "pkg/hook/setup/") && slices.Contains(agent.Names(), of)
}
