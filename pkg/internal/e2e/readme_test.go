package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// TestReadme does what the README shows, in one folder, from top to bottom. In a block of the kind "console" each line that
// begins with "$ " is a command, and what follows is what it prints, on both streams; "…" stands for anything.
func TestReadme(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	data, err := os.ReadFile(filepath.Join(root(), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t)
	s.goModule(false)
	blocks := regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(string(data), -1)
	if len(blocks) < 3 {
		t.Fatalf("README.md: found %d blocks of the kind console", len(blocks))
	}
	for _, block := range blocks {
		for _, part := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			command, want, _ := strings.Cut(part, "\n")
			o := s.shell("{ " + command + "\n} 2>&1")
			if !matches(want, o.stdout) {
				t.Errorf("$ %s\nthe README says:\n%s\nit printed:\n%s", command, want, o.stdout)
			}
		}
	}
}

// matches compares output with what a page says of it.
func matches(want, got string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(want)), "…", "(?s:.*?)")
	return regexp.MustCompile("^" + pattern + "$").MatchString(strings.TrimSpace(got))
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		want, got string
		ok        bool
	}{
		{"a … c", "a b\nb c\n", true},
		{"a … c", "a b", false},
		{"", "", true},
		{"", "noise", false},
		{"1.5 [x]", "1.5 [x]\n", true},
		{"1.5", "1x5", false},
	} {
		if matches(c.want, c.got) != c.ok {
			t.Errorf("matches(%q, %q) = %v", c.want, c.got, !c.ok)
		}
	}
}

// TestReadmeRecipes holds that the recipes of the README are the examples, which tests execute.
func TestReadmeRecipes(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root(), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	recipes := regexp.MustCompile("(?s)<!-- examples/(\\S+) -->\n+```\\w*\n(.*?)```").FindAllStringSubmatch(string(data), -1)
	if len(recipes) != 3 {
		t.Errorf("README.md: found %d recipes", len(recipes))
	}
	for _, block := range recipes {
		if text := example(t, block[1]); !strings.Contains(text, block[2]) {
			t.Errorf("README.md: the recipe of examples/%s is not in that file:\n%s", block[1], block[2])
		}
	}
}
