package mutants

import (
	"flag"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

const root = "../../.."

// TestTableIsCurrent holds that every mutant changes what it means to: its text is there, once, and what comes of it can be parsed.
func TestTableIsCurrent(t *testing.T) {
	list, err := All(root)
	if err != nil {
		t.Fatal(err)
	}
	made := golden(t)
	seen := map[string]bool{}
	for _, m := range list {
		if seen[m.Name] {
			t.Errorf("two mutants are called %q", m.Name)
		}
		seen[m.Name] = true
		if len(m.Tests) == 0 {
			t.Errorf("%s: no tests", m.Name)
		}
		files, err := m.Apply(root)
		if err != nil {
			t.Error(err)
		}
		for _, c := range m.Without {
			if !strings.Contains(made, strings.TrimSuffix("\t"+c.Stage+": ", "\t: ")+c.Name) || !strings.Contains(made, c.Object) {
				t.Errorf("%s: no plan has the call %+v", m.Name, c)
			}
		}
		for name, text := range files {
			if _, err := parser.ParseFile(token.NewFileSet(), name, text, 0); err != nil {
				t.Errorf("%s: %v", m.Name, err)
			}
		}
	}
	if len(list) < 200 {
		t.Errorf("%d mutants; a table has gone away", len(list))
	}
	t.Logf("%d mutants", len(list))
}

// TestApplyRefuses what is not there, what is there twice, and what changes nothing.
func TestApplyRefuses(t *testing.T) {
	for _, e := range []Edit{{"go.mod", "no such text", ""}, {"go.mod", "golang.org/x", ""}, {"go.mod", "module ", "module "}, {"no/such", "a", "b"}} {
		if _, err := (Mutant{Name: "x", Edits: []Edit{e}}).Apply(root); err == nil {
			t.Errorf("%+v is accepted", e)
		}
	}
}

var update = flag.Bool("update", false, "rewrite the table of docs/mutants.md")

// TestSurvivorsInDocs holds that the page explains every mutant that survives, and no other.
func TestSurvivorsInDocs(t *testing.T) {
	const page, head = root + "/docs/mutants.md", "| without | why no test can notice |\n|---|---|\n"
	list, err := All(root)
	if err != nil {
		t.Fatal(err)
	}
	want := head
	for _, m := range list {
		if m.Survives != "" {
			want += "| " + m.Name + " | " + m.Survives + " |\n"
		}
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(text), head)
	_, after, _ := strings.Cut(rest, "\n\n")
	whole := before + want
	if after != "" {
		whole += "\n" + after
	}
	if *update {
		if err := os.WriteFile(page, []byte(whole), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if whole != string(text) {
		t.Errorf("%s does not tell of the survivors that the table has; run go test ./pkg/internal/mutants -update", page)
	}
}

// golden are the calls of all plans.
func golden(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, name := range []string{"forms", "profiles"} {
		text, err := os.ReadFile(root + "/pkg/sandbox/control/testdata/plans/" + name + ".golden")
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
