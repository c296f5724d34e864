package shell

import (
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// braceWords are words with braces, matching or not.
var braceWords = []string{
	"{p},q}r", "{a,b}{c,d}", "a{b,c{d,e}f}g", "{a", "{a,b", "a}", "{}", "{,}", "{,}x", "x{}y", "{a,{b}", "{{a,b}", "{a,b}}", "{1..3}{a,b}", "{1..a}",
	"{a..c}x", "{1..3..2}", "{3..1}", "{01..03}", "{-1..1}", "{-01..01}", "{1..}", "{..2}", "{1..2", "x{1..2}y{a}z{b,c}", `{"a,b",c}`, `{a\,b,c}`, "a{,}b{,}c",
	"{{1..2},{a,b}}", "{a,b}..{c}", "{x,y..z}", "{1..2,3}", "{{1..2}..3}", "{a..b..c}", `"{a,b}"`, "{a,'b,c'}", "{,,}", "a{b}c,d}", "{z..a..5}", "{1..10..-3}",
	"{a}{b,c}", "{a}b,c}", "a{b,c}{", "{a,b}{1..", "{1..2}{", "{+1..3}", "{0..0}", "{a..a}", "{ab..cd}", "{1.5..3}", `{\{a,b}`, "x{,y}=z", "{a,b}}{c,d}", "{{a},b}", "{a,b,}", "{{{a,b}}}",
}

// TestBracesAgainstBash: every word becomes what bash makes of it.
func TestBracesAgainstBash(t *testing.T) {
	probetest.Need(t, "command:bash")
	for _, word := range braceWords {
		var got []string
		for _, w := range Analyze("p "+word, Options{}).Shell.Commands[0].Argv[1:] {
			got = append(got, *w)
		}
		if want := bashWords(t, word); strings.Join(got, "|") != want {
			t.Errorf("%s: %q, bash makes %q", word, got, want)
		}
	}
}
