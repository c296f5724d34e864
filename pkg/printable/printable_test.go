package printable

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                                 "",
		"plain text, /a/path":              "plain text, /a/path",
		"a\tb\nc":                          "a b⏎c",
		"a\r\nb":                           `a\x0d⏎b`,
		"\x1b[2J\x1b]0;title\x07":          `\x1b[2J\x1b]0;title\x07`,
		"\x00\x7f\b":                       `\x00\x7f\x08`,
		"\u009b31m\u0085":                  `\u009b31m\u0085`,
		"\x9b31m":                          `\x9b31m`,
		"\xff\xc3(\xe2\x82":                `\xff\xc3(\xe2\x82`,
		"\xed\xa0\x80":                     `\xed\xa0\x80`,
		"\ufffd":                           "\ufffd",
		"a\u200bb\u200c\u200d\u2060\ufeff": `a\u200bb\u200c\u200d\u2060\ufeff`,
		"\u202ecod.exe\u2066\u061c":        `\u202ecod.exe\u2066\u061c`,
		"rm\u00ad -rf\u00a0/":              `rm\u00ad -rf\u00a0/`,
		"\U000e0041\U000e007f\U000e0100":   `\U000e0041\U000e007f\U000e0100`,
		"x\ufe0f\u180b":                    `x\ufe0f\u180b`,
		"\u3164\uffa0\u115f\u2800\u034f":   `\u3164\uffa0\u115f\u2800\u034f`,
		"\u2028\u2029\u3000\u1680":         `\u2028\u2029\u3000\u1680`,
		"\ue000\U000f0000\u0378":           `\ue000\U000f0000\u0378`,
		"Grüße, 世界, עברית, हिन्दी, ภาษาไทย": "Grüße, 世界, עברית, हिन्दी, ภาษาไทย",
		"e\u0301 Vie\u0323\u0302t": "e\u0301 Vie\u0323\u0302t",
		"a\u0335\u0336":            "a\u0335\u0336",
		"\u0301a":                  `\u0301a`,
		"/\u0338x \u0301":          `/\u0338x \u0301`,
		"a\u200b\u0301":            `a\u200b\u0301`,
		"a\xff\u0301":              `a\xff\u0301`,
		"🙂 🇩🇪 👍🏽 1\u20e3":          "🙂 🇩🇪 👍🏽 1\u20e3",
		"👩\u200d💻 ❤\ufe0f":         `👩\u200d💻 ❤\ufe0f`,
	} {
		if got := Line(in); got != want {
			t.Errorf("Line(%+q) = %+q, want %+q", in, got, want)
		}
	}
	if got, want := Line("a"+strings.Repeat("\u0301", 6)+"b\u0301"), "a\u0301\u0301\u0301\u0301"+`\u0301\u0301`+"b\u0301"; got != want {
		t.Errorf("a heap of marks: %+q, want %+q", got, want)
	}
}

func TestText(t *testing.T) {
	if got, want := Text("a\n\tb\r\x1b\u202e\n"), "a\n\tb"+`\x0d\x1b\u202e`+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSprintf(t *testing.T) {
	name := "a\nethos-x: hint: run this\x1b[2K"
	for got, want := range map[string]string{
		Sprintf("%s|%6s|%-4s|%d", name, "ab", "c", 7):               `a⏎ethos-x: hint: run this\x1b[2K|    ab|c   |7`,
		Sprintf("%v: %v", name, errors.New("no\nway")):              `a⏎ethos-x: hint: run this\x1b[2K: no⏎way`,
		Sprintf("%q and\n%v", "a\n\u200b\ufe0f", []string{"x\x1b"}): `"a\n\u200b\ufe0f" and` + "\n" + `[x\x1b]`,
		Sprintf("%v", stringer{}):                                   `a⏎b`,
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestJSON holds that values stay what they were, and that a terminal sees them, wherever the pieces are cut.
func TestJSON(t *testing.T) {
	value := "a\u202e\u009b31m\U000e0041\u200be\u0301 世界 🙂\\"
	text := "{\"a\": \"" + strings.ReplaceAll(value, `\`, `\\`) + "\"}\n"
	for at := range text {
		var out strings.Builder
		w := NewJSON(&out)
		for _, piece := range []string{text[:at], text[at:]} {
			if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
		}
		if fault := badIn(out.String(), "\n"); fault != "" {
			t.Errorf("%q: %s", out.String(), fault)
		}
		got := map[string]string{}
		if err := json.Unmarshal([]byte(out.String()), &got); err != nil || got["a"] != value {
			t.Errorf("%q is %q, %v", out.String(), got["a"], err)
		}
	}
}

type stringer struct{}

func (stringer) String() string { return "a\nb" }

// TestEveryCodePoint holds each code point, after a letter and after what is no
// base of a mark, to the contract, by Unicode's own tables.
func TestEveryCodePoint(t *testing.T) {
	const block = 4096
	for from := rune(0); from <= unicode.MaxRune; from += block {
		for _, before := range []string{"/", "a"} {
			var in strings.Builder
			for r := from; r < from+block; r++ {
				in.WriteString(before + string(r))
			}
			if fault := badIn(Line(in.String()), ""); fault != "" {
				t.Errorf("Line of %q and each from %U: %s", before, from, fault)
			}
			if fault := badIn(Text(in.String()), "\n\t"); fault != "" {
				t.Errorf("Text of %q and each from %U: %s", before, from, fault)
			}
		}
	}
	for b := range 256 {
		if fault := badIn(Line("a"+string([]byte{byte(b)})), ""); fault != "" {
			t.Fatalf("byte %#x: %s", b, fault)
		}
	}
}

// hidden are Unicode's classes of what has no glyph, or steers: not the test of the code under test.
var hidden = []*unicode.RangeTable{
	unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Join_Control,
	unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Noncharacter_Code_Point,
}

// badIn says what a terminal would obey, or a reader not see.
func badIn(text, allowed string) string {
	if !utf8.ValidString(text) {
		return fmt.Sprintf("not UTF-8: %q", text)
	}
	marks := maxMarks // none at the beginning
	for _, r := range text {
		if r >= ' ' && r < 0x7f { // most of an escaped text
			marks = maxMarks
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				marks = 0
			}
			continue
		}
		switch mark := unicode.In(r, unicode.Mn, unicode.Me); {
		case strings.ContainsRune(allowed, r):
			marks = maxMarks
			continue
		case unicode.In(r, hidden...), unicode.Is(unicode.Zs, r) && r != ' ', !unicode.IsGraphic(r):
			return fmt.Sprintf("%U is in it", r)
		case mark && marks == maxMarks:
			return fmt.Sprintf("%U without a base, or one mark too many", r)
		case mark:
			marks++
		case unicode.In(r, unicode.Zs, unicode.P, unicode.Sc, unicode.Sk, unicode.Sm):
			marks = maxMarks
		default:
			marks = 0
		}
	}
	return ""
}

func FuzzLine(f *testing.F) {
	for _, seed := range []string{"a\x1b[2J\u202e\n\t\xff", "e\u0301\u0301\u0301\u0301\u0301\u0301", "👩\u200d💻", "\U000e0041"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		line := Line(text)
		if fault := badIn(line, ""); fault != "" {
			t.Errorf("Line(%q): %s", text, fault)
		}
		if fault := badIn(Text(text), "\n\t"); fault != "" {
			t.Errorf("Text(%q): %s", text, fault)
		}
		if again := Line(line); again != line {
			t.Errorf("Line(%q) is not settled: %q, then %q", text, line, again)
		}
		if fault := badIn(Sprintf("%s %v\n", text, errors.New(text)), "\n"); fault != "" {
			t.Errorf("Sprintf(%q): %s", text, fault)
		}
		if n := strings.Count(Sprintf("%s\n%q\n", text, text), "\n"); n != 2 {
			t.Errorf("%q makes %d lines", text, n)
		}
	})
}
