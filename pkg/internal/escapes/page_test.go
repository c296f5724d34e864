package escapes

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/backends.md instead of comparing it")

// TestBackendsPage holds that docs/backends.md lists the cases whose guarantee the
// backend landlock does not have, and no other.
func TestBackendsPage(t *testing.T) {
	const page, head = "../../../docs/backends.md", "| attack | with `--backend landlock` | because |\n|---|---|---|\n"
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
			if outcome, why, listed := strings.Cut(c.Landlock, ": "); listed {
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
