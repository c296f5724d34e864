package speed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTableIsPlaced(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("a\n" + begin + "old\n" + end + "b\n")
	f := &figures{rows: []row{{"what", "1", "2", "0.5", "1.0", "0.4"}}}
	for range 2 {
		if err := write(page, f.table()); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(text); !strings.HasPrefix(got, "a\n"+begin) || !strings.HasSuffix(got, end+"b\n") || strings.Contains(got, "old") || strings.Count(got, "| what | 1 | 2 | **0.5** | 1.0 | 0.4 |\n") != 1 {
		t.Errorf("%s", got)
	}
	put("a\n")
	if write(page, "x") == nil {
		t.Error("a page without marks is written")
	}
}

func TestSpread(t *testing.T) {
	var s sample
	for _, n := range []time.Duration{5, 1, 4, 2, 3} {
		s = append(s, took{n, 10 * n})
	}
	if least, median, most := s.spread(wall); least != 1 || median != 3 || most != 5 {
		t.Error(least, median, most)
	}
	if _, median, _ := s.spread(processor); median != 30 {
		t.Error(median)
	}
}

// TestInTurn: each runs once a round, and the round before the first that counts
// is left out.
func TestInTurn(t *testing.T) {
	var order []string
	run := func(name string) contender {
		return contender{name, func() took { order = append(order, name); return took{wall: time.Duration(len(order))} }}
	}
	s := inTurn(3, run("a"), run("b"))
	if len(s["a"]) != 3 || len(s["b"]) != 3 || len(order) != 8 {
		t.Errorf("%v %v", s, order)
	}
	for i := 0; i < len(order); i += 2 {
		if order[i] == order[i+1] {
			t.Errorf("%v", order)
		}
	}
}
