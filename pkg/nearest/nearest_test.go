package nearest

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestName(t *testing.T) {
	names := []string{"read_paths", "write_paths", "network_tools", "enforce"}
	for word, want := range map[string]string{
		"read_path": "read_paths", "raed_paths": "read_paths", "Enforce": "enforce", "enforce": "enforce",
		"network-tool": "network_tools", "endorce": "enforce", "undorce": "", "network": "", "": "", "rd_pths": "",
		strings.Repeat("x", longest) + "read_paths": "",
	} {
		if got := Name(word, names); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	if got := Name("x", nil); got != "" {
		t.Errorf("of no names: %q", got)
	}
	long := strings.Repeat("x", 2*longest)
	if got := Name(long, []string{long[:longest]}); got != "" {
		t.Errorf("words with the same beginning are taken for each other")
	}
}

func TestSort(t *testing.T) {
	names := []string{"mypy", "ruff", "mypi", "eslint"}
	if got := Sort("mypx", names); !slices.Equal(got, []string{"mypi", "mypy", "ruff", "eslint"}) {
		t.Errorf("%q", got)
	}
	if names[0] != "mypy" {
		t.Error("the caller's list is changed")
	}
}

// TestHugeWord: a word that somebody made to keep us busy does not.
func TestHugeWord(t *testing.T) {
	names := make([]string, 500)
	for i := range names {
		names[i] = strings.Repeat("n", i)
	}
	begin := time.Now()
	Sort(strings.Repeat("x", 64<<20), names)
	if took := time.Since(begin); took > time.Second {
		t.Errorf("took %v", took)
	}
}

// FuzzDistance holds the distance to what makes it one: it is 0 for equal
// beginnings alone, the same both ways, at most the longer word, and no way over
// a third word is shorter.
func FuzzDistance(f *testing.F) {
	f.Add("kitten", "sitting", "")
	f.Add("", "a", "b")
	f.Add("read_paths", "raed_path", "write")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		ab, bc, ac := distance(a, b), distance(b, c), distance(a, c)
		begin := func(s string) string { return s[:min(len(s), longest)] }
		switch {
		case (ab == 0) != (begin(a) == begin(b)), ab != distance(b, a), ab > max(len(a), len(b)), ac > ab+bc:
			t.Errorf("%q %q %q: %d %d %d", a, b, c, ab, bc, ac)
		case ab < abs(len(begin(a))-len(begin(b))):
			t.Errorf("%q %q: %d is less than the difference in length", a, b, ab)
		}
	})
}

// TestDistance is the textbook's examples.
func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"kitten", "sitting", 3}, {"saturday", "sunday", 3}, {"", "abc", 3}, {"ab", "ba", 2}, {"é", "e", 2}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%q %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
