package repocheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDecisions holds that each decision has a number of its own, which its heading repeats.
func TestDecisions(t *testing.T) {
	pages, err := filepath.Glob("../../../docs/decisions/[0-9]*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	of := map[string]string{}
	for _, page := range pages {
		name := filepath.Base(page)
		number, _, _ := strings.Cut(name, "-")
		if of[number] != "" {
			t.Errorf("%s and %s have one number", of[number], name)
		}
		of[number] = name
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "# "+number+": ") {
			t.Errorf("the heading of %s does not begin with its number", name)
		}
	}
}
