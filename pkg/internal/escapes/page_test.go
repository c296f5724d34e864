package escapes

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/backends.md instead of comparing it")

// TestBackendsPage holds that docs/backends.md lists, for each backend, the cases whose
// guarantee it does not have, and no other.
func TestBackendsPage(t *testing.T) {
	for _, backend := range []string{"bwrap", "landlock"} {
		t.Run(backend, func(t *testing.T) { onPage(t, backend) })
	}
}

func onPage(t *testing.T, backend string) {
	page, head := "../../../docs/backends.md", "| attack | with `--backend "+backend+"` | because |\n|---|---|---|\n"
	files, err := filepath.Glob("../../../testdata/escapes/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := head
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		cases, err := Parse(string(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			if outcome, why, listed := strings.Cut(c.differs(backend), ": "); listed {
				want += "| `" + c.Name + "`: " + strings.ReplaceAll(c.Why, "|", `\|`) + " | " + outcome + " | " + why + " |\n"
			}
		}
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(text), head)
	_, after, _ := strings.Cut(rest, "\n\n")
	whole := before + want + "\n" + after
	if *update {
		if err := os.WriteFile(page, []byte(whole), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if whole != string(text) {
		t.Errorf("docs/backends.md does not list what the cases say; run go test ./pkg/internal/escapes -run TestBackendsPage -update")
	}
}
