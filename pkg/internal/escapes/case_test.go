package escapes

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	cases, err := Parse("# comment\n== a\nwhy: w\nflags: --rw $W\nattack: one\n  two\nwant: EPERM\ntwin: true\n\n== b\nwhy: w\nattack: x\nwant: nothing\ncontrol: unsafe\ntwin: y\n")
	if err != nil || len(cases) != 2 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	if c := cases[0]; c.Attack != "one\ntwo" || c.Control != Bites || len(c.Flags) != 2 || cases[1].Control != Unsafe {
		t.Errorf("%+v", cases)
	}
}

func TestParseRefuses(t *testing.T) {
	const good = "== a\nwhy: w\nattack: x\nwant: EPERM\ntwin: y\n"
	for want, text := range map[string]string{
		"already":         good + good,
		"no case":         "why: w\n",
		"unknown field":   good + "wants: EPERM\n",
		"continues":       "== a\n  x\n",
		"reason":          strings.Replace(good, "why: w\n", "", 1),
		"lacks":           strings.Replace(good, "twin: y\n", "", 1),
		"what it wants":   strings.Replace(good, "want: EPERM\n", "", 1),
		"root nor user":   good + "as: admin\n",
		"unknown control": good + "control: none\n",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
