package rule

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// tableRules are the rules that testdata/spellings.txt is judged by.
func tableRules(t testing.TB) Rules {
	t.Helper()
	allow, err := ParseSet([]string{"example.com", "*.wild.example", "bücher.example", "93.184.216.34",
		"192.0.2.0/24", "10.9.0.0/16", "fd12::/16"})
	if err != nil {
		t.Fatal(err)
	}
	deny, err := ParseSet([]string{"bad.wild.example", "*.worse.wild.example", "192.0.2.66"})
	if err != nil {
		t.Fatal(err)
	}
	return Rules{Allow: allow, Deny: deny}
}

type spelling struct{ text, normal, verdict string }

func spellings(t testing.TB) (rows []spelling) {
	t.Helper()
	data, err := os.ReadFile("../testdata/spellings.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		text, err := strconv.Unquote(fields[0])
		if err != nil || len(fields) != 3 {
			t.Fatalf("%s: %v", line, err)
		}
		rows = append(rows, spelling{text, fields[1], fields[2]})
	}
	if len(rows) < 150 {
		t.Fatalf("%d rows", len(rows))
	}
	return rows
}

var verdictNames = map[Reason]string{"": "allow", NotAllowed: "allowlist", Denied: "denylist", DeniedAddress: "address"}

func TestSpellings(t *testing.T) {
	rules := tableRules(t)
	for _, row := range spellings(t) {
		normal, verdict := "-", "invalid"
		h, err := ParseHost(row.text)
		if err == nil {
			normal, verdict = h.String(), verdictNames[rules.Destination(h, 443).Reason]
		}
		if row.normal == "?" {
			normal = "?"
		}
		if normal != row.normal || verdict != row.verdict {
			t.Errorf("%q: %s %s, want %s %s (%v)", row.text, normal, verdict, row.normal, row.verdict, err)
		}
	}
}

// TestNormalFormIsFixed: the normal form of a normal form is itself, so that a
// destination cannot become another one on its way through two judges.
func TestNormalFormIsFixed(t *testing.T) {
	for _, row := range spellings(t) {
		checkFixed(t, row.text)
	}
}

func checkFixed(t *testing.T, text string) {
	h, err := ParseHost(text)
	if err != nil {
		return
	}
	for _, again := range []string{h.String(), strings.ToUpper(h.String())} {
		if g, err := ParseHost(again); err != nil || g != h {
			t.Errorf("%q: %v, then %v, %v", text, h, g, err)
		}
	}
	g, port, err := ParseAuthority(h.JoinPort(443), 0)
	if err != nil || g != h || port != 443 {
		t.Errorf("%q: authority %v %d %v", text, g, port, err)
	}
}

func FuzzParseHost(f *testing.F) {
	for _, row := range spellings(f) {
		f.Add(row.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkFixed(t, text)
		if h, err := ParseHost(text); err == nil && !h.Addr().IsValid() && badName(h.Name()) != "" {
			t.Errorf("%q: %q is no name", text, h.Name())
		}
	})
}
