package repocheck

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/cli"
)

var update = flag.Bool("update", false, "write the generated parts of docs/ instead of comparing them")

const (
	exitPage  = "docs/exit-codes.md"
	exitBegin = "<!-- written by `make docs` from pkg/cli.ExitTable -->\n"
	exitEnd   = "<!-- end of the table -->\n"
)

// exitTable is the table of pkg/cli in Markdown.
func exitTable() string {
	var b strings.Builder
	b.WriteString("| status | filters: `ethos-facts`, `ethos-decide`, `ethos-trace`, `ethos-sandbox` in the pipe | runners: `ethos-sandbox run` and `shell`, `ethos-git` |\n|---|---|---|\n")
	for _, row := range cli.ExitTable() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", row.Status, orDash(row.Filter), orDash(row.Runner))
	}
	return b.String()
}

func orDash(meaning string) string {
	if meaning == "" {
		return "–"
	}
	return meaning
}

func TestExitTableInDocs(t *testing.T) {
	tr := load(t)
	page := tr.read(t, exitPage)
	before, rest, found := strings.Cut(page, exitBegin)
	table, after, ended := strings.Cut(rest, exitEnd)
	if !found || !ended {
		t.Fatalf("%s: no place for the table between %q and %q", exitPage, exitBegin, exitEnd)
	}
	if table == exitTable() {
		return
	}
	if !*update {
		t.Fatalf("%s differs from pkg/cli; run `make docs`. Have:\n%s\nwant:\n%s", exitPage, table, exitTable())
	}
	page = before + exitBegin + exitTable() + exitEnd + after
	if err := os.WriteFile(filepath.Join(tr.root, exitPage), []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestExitTableInManuals holds that each committed manual page names every status of its program with its meaning.
func TestExitTableInManuals(t *testing.T) {
	tr := load(t)
	for _, program := range []string{"ethos-facts", "ethos-decide", "ethos-sandbox", "ethos-trace", "ethos-git"} {
		page := plain(tr.read(t, "docs/man/"+program+".1"))
		for _, row := range cli.ExitTable() {
			for _, meaning := range meanings(program, row) {
				if !strings.Contains(page, "\n.B \""+row.Status+"\"\n") || !strings.Contains(page, meaning) {
					t.Errorf("docs/man/%s.1: status %s: no %q", program, row.Status, meaning)
				}
			}
		}
	}
}

// meanings are what one status means for a program; ethos-sandbox is of both kinds.
func meanings(program string, row cli.ExitRow) []string {
	var texts []string
	if program != "ethos-git" && row.Filter != "" {
		texts = append(texts, row.Filter)
	}
	if (program == "ethos-git" || program == "ethos-sandbox") && row.Runner != "" {
		texts = append(texts, row.Runner)
	}
	return texts
}

// plain takes the escapes off roff text.
func plain(page string) string { return strings.NewReplacer(`\-`, "-", `\e`, `\`).Replace(page) }
