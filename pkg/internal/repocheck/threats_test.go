package repocheck

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestThreatModelNamesItsTests holds that every claim of the threat model names
// what shows it, and that each of those is there.
func TestThreatModelNamesItsTests(t *testing.T) {
	tr := load(t)
	text, err := os.ReadFile(filepath.Join(tr.root, "docs/threat-model.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "\n| claim | held by | shown by |\n")
	if !found {
		t.Fatal("docs/threat-model.md has no table of claims")
	}
	known := append(tr.escapes(t), tr.tests()...)
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if !strings.HasPrefix(line, "|") {
			break
		}
		if strings.HasPrefix(line, "|---") {
			continue
		}
		rows++
		if len(cells) != 3 {
			t.Errorf("a claim in %d cells, not 3: %s", len(cells), line)
			continue
		}
		names := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[2], -1)
		if len(names) == 0 {
			t.Errorf("%s: nothing shows it", cells[0])
		}
		for _, name := range names {
			if !slices.ContainsFunc(known, func(k string) bool { ok, err := path.Match(name[1], k); return ok && err == nil }) {
				t.Errorf("%s: there is no test and no escape %s", cells[0], name[1])
			}
		}
	}
	if rows < 10 {
		t.Errorf("%d claims were read", rows)
	}
}

// escapes are the names of the cases in testdata/escapes.
func (tr *tree) escapes(t *testing.T) (names []string) {
	for _, file := range tr.files {
		if dir, name := path.Split(file); dir != "testdata/escapes/" || path.Ext(name) != ".txt" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(tr.root, file))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if name, is := strings.CutPrefix(strings.TrimSpace(line), "== "); is {
				names = append(names, name)
			}
		}
	}
	return names
}

// tests are the names of the test and fuzz functions.
func (tr *tree) tests() (names []string) {
	for _, s := range tr.sources {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.test && f.Recv == nil && (strings.HasPrefix(f.Name.Name, "Test") || strings.HasPrefix(f.Name.Name, "Fuzz")) {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
}
