package textdelta

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// apply is the inverse of Lines.
func apply(t *testing.T, base, delta []string) []string {
	t.Helper()
	var out []string
	at := 0
	for _, line := range delta {
		switch {
		case strings.HasPrefix(line, "- "):
			if base[at] != line[2:] {
				t.Fatalf("%q goes, and %q is there", line, base[at])
			}
			at++
		case strings.HasPrefix(line, "-- "):
			var more int
			if _, err := fmt.Sscanf(line, "-- and %d more", &more); err != nil {
				t.Fatal(err)
			}
			at += more
		case strings.HasPrefix(line, "+ "):
			out = append(out, line[2:])
		default:
			to := 0
			for to < len(base) && place(base, to) != line {
				to++
			}
			if to < at || to == len(base) && place(base, to) != line {
				t.Fatalf("%q is nowhere", line)
			}
			out, at = append(out, base[at:to]...), to
		}
	}
	return append(out, base[at:]...)
}

// TestLines holds that nothing is lost: the base and the difference are the text.
func TestLines(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		some := func() (list []string) {
			for range r.IntN(30) {
				list = append(list, strings.Repeat("x", r.IntN(2)*width)+strconv.Itoa(r.IntN(6)))
			}
			return list
		}
		base, text := some(), some()
		delta := Lines(base, text)
		if got := apply(t, base, delta); strings.Join(got, "\n") != strings.Join(text, "\n") {
			t.Fatalf("seed %d: %q and %q are %q", seed, base, delta, got)
		}
		if len(Lines(base, base)) > 0 {
			t.Fatal("a text differs from itself")
		}
	}
}
