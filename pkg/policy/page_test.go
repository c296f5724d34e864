package policy

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// page is the list of shipped policies for people, made from the packs.
const page = "../../docs/policies.md"

const pageHead = `# The shipped policies

<!-- Made by go generate ./pkg/policy from the packs; changes here are lost. -->

The packs ` + "`core`" + ` and ` + "`services`" + ` always decide. ` + "`trust`" + ` comes with mode plan and ` + "`verify`" + ` with mode verify; every other pack is asked for with
` + "`ethos-decide --pack NAME`" + ` or under ` + "`packs:`" + ` in coding_ethos.yml. A protected policy can be tightened by that file, never removed or weakened.

The strictest match wins: deny, ask, warn, allow. ` + "`ethos-decide explain`" + ` shows how each policy judged a record; ` + "`ethos-decide check`" + ` runs the examples.
How to write policies of your own: [writing-policies.md](writing-policies.md).
`

func TestPage(t *testing.T) {
	set, err := LoadShipped()
	if err != nil {
		t.Fatal(err)
	}
	want := pageOf(set)
	if *update {
		if err := os.WriteFile(page, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(page); err != nil || !bytes.Equal(got, want) {
		t.Errorf("docs/policies.md is not what the packs say: run go generate ./pkg/policy (%v)", err)
	}
}

func pageOf(set *Set) []byte {
	var out bytes.Buffer
	out.WriteString(pageHead + "\n## Principles\n\n")
	for _, p := range set.principles {
		fmt.Fprintf(&out, "- `%s`: %s\n", p.ID, p.Title)
	}
	pack := ""
	for _, p := range set.Policies() {
		if p.Pack != pack {
			pack = p.Pack
			fmt.Fprintf(&out, "\n## Pack `%s`\n", pack)
		}
		message, remedy := p.Told()
		fmt.Fprintf(&out, "\n### %s\n\n%s %s\n\n", p.ID, message, remedy)
		fmt.Fprintf(&out, "`%s` on %s%s; principle `%s`%s. For example refused: %s. Passes: %s.\n", p.Effect, strings.Join(p.Kinds(), ", "), inModes(&p),
			p.Principle, map[bool]string{true: "; protected"}[p.Protected], some(p.Examples.Deny), some(p.Examples.Allow))
	}
	return out.Bytes()
}

func inModes(p *Policy) string {
	if len(p.Modes) == 0 {
		return ""
	}
	return ", in mode " + strings.Join(p.Modes, ", ")
}

// some are the first examples that say it in one line.
func some(examples []Example) string {
	var shown []string
	for i := range examples {
		e := &examples[i]
		text := e.Command
		if text == "" {
			text = e.String()
		}
		if len(e.Facts) > 0 || len(e.Findings) > 0 || e.Approved || strings.ContainsAny(text, "`\n") {
			continue
		}
		if shown = append(shown, "`"+text+"`"); len(shown) == 3 {
			break
		}
	}
	if len(shown) == 0 {
		return "see the pack"
	}
	return strings.Join(shown, ", ")
}
