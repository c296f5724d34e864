package record

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

const sample = `{"schema":"ethos/v1","id":"0197f6a0-0000-7000-8000-000000000000","time":"2026-01-02T03:04:05.000000006Z",` +
	`"action":{"kind":"exec","argv":["go","vet","./..."],"cwd":"/w","workspace":"/w"},"actor":{"agent":"","event":"","tool":"","session":"","mode":"safe","admin_approved":false}}`

// with returns sample with one more member before its closing brace.
func with(member string) string { return strings.TrimSuffix(sample, "}") + "," + member + "}" }

func TestParseLineRefuses(t *testing.T) {
	action := func(body string) string {
		return `{"schema":"ethos/v1","id":"a","time":"2026-01-02T03:04:05Z","action":` + body + `}`
	}
	for _, c := range []struct{ name, line, code, message string }{
		{"empty", ``, CodeInvalidJSON, "empty"},
		{"blank", "  \t", CodeInvalidJSON, "empty"},
		{"not an object", `[1]`, CodeInvalidJSON, "'{'"},
		{"garbage", `hello`, CodeInvalidJSON, "'h'"},
		{"half", sample[:60], CodeTruncated, "ends"},
		{"trailing data", sample + `{}`, CodeInvalidJSON, "after the end"},
		{"stray brace", sample + `}`, CodeInvalidJSON, "after the end"},
		{"duplicate", with(`"id":"b"`), CodeDuplicateKey, `"id"`},
		{"duplicate by escape", with(`"\u0069d":"b"`), CodeDuplicateKey, `"id"`},
		{"duplicate inside", with(`"x":{"a":1,"a":2}`), CodeDuplicateKey, `"a"`},
		{"invalid UTF-8", with("\"x\":\"\xff\""), CodeInvalidUTF8, "UTF-8"},
		{"lone surrogate", with(`"x":"\ud800"`), CodeInvalidUTF8, "surrogate"},
		{"control character", with("\"x\":\"\x01\""), CodeInvalidJSON, "control"},
		{"deep", with(`"x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200)), CodeTooDeep, "128"},
		{"leading zero", with(`"x":01`), CodeInvalidJSON, "'1'"},
		{"NaN", with(`"x":NaN`), CodeInvalidJSON, "'N'"},
		{"trailing comma", strings.TrimSuffix(sample, "}") + ",}", CodeInvalidJSON, "key"},
		{"schema", strings.Replace(sample, "ethos/v1", "ethos/v2", 1), CodeWrongSchema, "ethos/v2"},
		{"no schema", strings.Replace(sample, `"schema":"ethos/v1",`, "", 1), CodeMissingField, "schema"},
		{"no action", `{"schema":"ethos/v1","id":"a"}`, CodeMissingField, "exactly one"},
		{"two kinds", with(`"output":{"stream":"stdout","text":""}`), CodeMissingField, "found 2"},
		{"wrong type", action(`{"kind":"exec","argv":["a",1],"cwd":"/","workspace":"/"}`), CodeWrongType, "action.argv[1]: want a string"},
		{"null", action(`{"kind":"exec","argv":null,"cwd":"/","workspace":"/"}`), CodeWrongType, "action.argv: want an array, found null"},
		{"other case", action(`{"kind":"exec","ARGV":["rm"],"argv":["ls"],"cwd":"/","workspace":"/"}`), CodeUnknownField, `"ARGV"`},
		{"unknown field", action(`{"kind":"exec","argv":["ls"],"stdin":"x","cwd":"/","workspace":"/"}`), CodeUnknownField, `"stdin"`},
		{"missing cwd", action(`{"kind":"exec","argv":["ls"],"workspace":"/"}`), CodeMissingField, "cwd"},
		{"relative cwd", action(`{"kind":"exec","argv":["ls"],"cwd":"x","workspace":"/"}`), CodeWrongValue, "action.cwd"},
		{"unknown kind", action(`{"kind":"spawn","cwd":"/","workspace":"/"}`), CodeWrongValue, "spawn"},
		{"no argv", action(`{"kind":"exec","cwd":"/","workspace":"/"}`), CodeMissingField, "argv"},
		{"script in exec", action(`{"kind":"exec","argv":["ls"],"script":"rm","cwd":"/","workspace":"/"}`), CodeWrongValue, "script"},
		{"NUL", action(`{"kind":"exec","argv":["l\u0000s"],"cwd":"/","workspace":"/"}`), CodeWrongValue, "NUL"},
		{"mode", strings.Replace(sample, `"safe"`, `"yolo"`, 1), CodeWrongValue, "actor.mode"},
		{"approved by text", strings.Replace(sample, `"admin_approved":false`, `"admin_approved":"yes"`, 1), CodeWrongType, "admin_approved"},
		{"verdict", with(`"decision":{"verdict":"ALLOW","matches":[],"errors":[],"policy":{"digest":""},"subject":""}`), CodeWrongValue, "decision.verdict"},
		{"empty facts", with(`"facts":{}`), CodeMissingField, "facts: missing: shell, git"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseLine([]byte(c.line))
			var fault *BadLine
			if !errors.As(err, &fault) {
				t.Fatalf("got %v, want a bad line", err)
			}
			if fault.Code != c.code || !strings.Contains(fault.Message, c.message) {
				t.Errorf("got %s: %s\nwant %s: …%s…", fault.Code, fault.Message, c.code, c.message)
			}
		})
	}
}

// TestBadLineIsNamed: an error line has the id of the line it replaces, wherever that stands.
func TestBadLineIsNamed(t *testing.T) {
	for _, line := range []string{`{"schema":"ethos/v1","id":"a","action":1}`, `{"schema":"ethos/v1","action":1,"id":"a"}`, `{"action":{"kind":"exec","cwd":1},"id":"a","x":0}`} {
		_, err := ParseLine([]byte(line))
		var fault *BadLine
		if !errors.As(err, &fault) || fault.ID != "a" {
			t.Errorf("%s: %+v", line, fault)
		}
	}
}

// TestBadLinePath: an error names the value by its path.
func TestBadLinePath(t *testing.T) {
	line := string(wide(t))
	for _, c := range []struct{ old, changed, path string }{
		{`"set":{}`, `"set":{"A":"","B":1}`, "facts.tool.capabilities.env.set.B: want a string, found the number 1"},
		{`"argv":["go","vet","./..."],"raw"`, `"argv":["go","vet",{}],"raw"`, "facts.shell.commands[0].argv[2]: want a string, found an object"},
		{`"column":1`, `"column":1.5`, "facts.shell.commands[0].column: want an integer, found the number 1.5"},
		{`"assignments":[]`, `"assignments":[{"name":"A","value":null,"x":1}]`, `facts.shell.commands[0].assignments[0]: no field "x"`},
		{`"certain":true`, `"certain":[]`, "facts.shell.writes[0].certain: want true or false, found an array"},
		{`"path":"a",`, ``, "facts.shell.writes[0]: missing: path"},
		{`"network":{`, `"network":{"mode":"","mode":"",`, `key "mode" occurs twice`},
	} {
		changed := strings.Replace(line, c.old, c.changed, 1)
		if _, err := ParseLine([]byte(changed)); err == nil || !strings.Contains(err.Error(), c.path) {
			t.Errorf("%s: %v", c.path, err)
		}
	}
	var list []struct {
		A int `json:"a"`
	}
	for text, want := range map[string]string{`[1]`: "line[0]: want an object", `[{"a":1},{"a":"x"}]`: "line[1].a: want an integer", `{}`: "line: want an array"} {
		if err := DecodeStrict([]byte(text), &list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestUnknownMembersSurviveByteForByte(t *testing.T) {
	odd := `"x-\u0074race" : {"b":1.0, "a" : 1e2,"n":12345678901234567890}`
	l, err := ParseLine([]byte(with(odd)))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(l.AppendTo(nil)); got != with(odd)+"\n" {
		t.Errorf("an unchanged line changed:\n%s", got)
	}
	if err := l.Set("decision", Decision{Verdict: VerdictDeny}); err != nil {
		t.Fatal(err)
	}
	got := string(l.AppendTo(nil))
	for _, want := range []string{`"x-\u0074race":{"b":1.0, "a" : 1e2,"n":12345678901234567890}`, `"matches":[]`, `"packs":[]`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if _, err := ParseLine(bytes.TrimSuffix([]byte(got), []byte("\n"))); err != nil {
		t.Errorf("our own line is refused: %v", err)
	}
}

func TestNewLineParses(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	l := NewLine("", now, Action{Kind: KindShell, Script: "echo '<&>'", Cwd: "/", Workspace: "/"}, Actor{Mode: ModePlan})
	if err := l.Set("facts", Facts{}); err != nil {
		t.Fatal(err)
	}
	text := l.AppendTo(nil)
	again, err := ParseLine(bytes.TrimSuffix(text, []byte("\n")))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.AppendTo(nil), text) || !bytes.Contains(text, []byte("<&>")) {
		t.Errorf("round trip:\n%s%s", text, again.AppendTo(nil))
	}
	var facts Facts
	if err := again.Decode("facts", &facts); err != nil || facts.Shell.Commands == nil || facts.Git == nil {
		t.Errorf("facts %+v, %v: want empty lists", facts, err)
	}
}

func TestSubjectBindsActionActorFacts(t *testing.T) {
	subject := func(text string) string {
		t.Helper()
		l, err := ParseLine([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		s, err := l.Subject()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	facts := `"facts":{"shell":{},"git":[],"files":[],"tool":{},"capabilities":{},"repo":{},"incomplete":[]}`
	base := subject(with(facts))
	spaced := strings.Replace(with(facts), `"kind":"exec",`, ` "kind" : "\u0065xec" , `, 1)
	if got := subject(spaced); got != base {
		t.Errorf("spelling changed the subject")
	}
	if got := subject(with(facts + `,"note":1`)); got != base {
		t.Errorf("a member outside the subject changed it")
	}
	for _, edit := range [][2]string{{`"go"`, `"rm"`}, {`"admin_approved":false`, `"admin_approved":true`}, {`"incomplete":[]`, `"incomplete":["x"]`}, {`"cwd":"/w"`, `"cwd":"/"`}} {
		if got := subject(strings.Replace(with(facts), edit[0], edit[1], 1)); got == base {
			t.Errorf("%s → %s kept the subject", edit[0], edit[1])
		}
	}
	l, _ := ParseLine([]byte(sample))
	if _, err := l.Subject(); !errors.Is(err, ErrAbsent) {
		t.Errorf("no facts: %v", err)
	}
}

func TestFilter(t *testing.T) {
	long := with(`"x":"` + strings.Repeat("é", 2000) + `"`)
	in := sample + "\nnot json\n" + long + "\n" + `{"schema":"ethos/v1","id":"o","output":{"stream":"stdout","text":"hi"}}` + "\n\n" + sample[:40]
	var out bytes.Buffer
	tally, err := Filter{Stage: "decide", MaxLine: 1000, In: strings.NewReader(in), Out: &out}.Run(context.Background(), func(l *Line) error {
		return l.Set("note", "seen")
	})
	if err != nil || tally.Lines != 6 || tally.Bad != 4 {
		t.Fatalf("tally %+v, %v", tally, err)
	}
	var codes []string
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for _, text := range lines {
		l, err := ParseLine([]byte(text))
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		var e Error
		if l.Decode("error", &e) == nil {
			codes = append(codes, e.Code)
		} else {
			codes = append(codes, string(l.Raw("note")))
		}
	}
	if got, want := strings.Join(codes, " "), `"seen" invalid_json too_long  invalid_json truncated`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestNewIDIncreases(t *testing.T) {
	now := time.Now()
	last := ""
	for range 10000 {
		id := NewID(now)
		if id <= last || len(id) != 36 || id[14] != '7' || !strings.ContainsRune("89ab", rune(id[19])) {
			t.Fatalf("%s after %s", id, last)
		}
		last = id
	}
}

func TestFilterEndsWhileItsInputBlocks(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	defer w.Close()
	var out bytes.Buffer
	ended := make(chan error)
	go func() {
		_, err := Filter{Stage: "trace", In: r, Out: &out}.Run(ctx, func(*Line) error { return nil })
		ended <- err
	}()
	if _, err := io.WriteString(w, sample+"\n"); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestInterruptibleReadsAll(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	want := strings.Repeat("0123456789", 100_000)
	got, err := io.ReadAll(Interruptible(ctx, iotest.HalfReader(strings.NewReader(want))))
	if err != nil || string(got) != want {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestBrief: brief facts are those of the line as it is now.
func TestBrief(t *testing.T) {
	l, err := ParseLine(wide(t))
	if err != nil {
		t.Fatal(err)
	}
	var f Facts
	if err := l.Brief(&f); err != nil || f.Tool.ID != "go-vet" || f.Tool.Managed || len(f.Shell.Commands) != 1 || f.Shell.Commands[0].Name != "go" || f.Shell.Commands[0].Raw != "" {
		t.Errorf("%v: %+v", err, f)
	}
	if err := l.Set("facts", Facts{Tool: Tool{ID: "other", Managed: true}}); err != nil {
		t.Fatal(err)
	}
	if err := l.Brief(&f); err != nil || f.Tool.ID != "other" || len(f.Shell.Commands) != 0 {
		t.Errorf("%v: %+v", err, f)
	}
	l.Delete("facts")
	if err := l.Brief(&f); !errors.Is(err, ErrAbsent) {
		t.Errorf("%v: %+v", err, f)
	}
}

// TestReaderRepeats: a line is checked the same whatever came before it.
func TestReaderRepeats(t *testing.T) {
	line := string(wide(t))
	_, after, _ := strings.Cut(line, `},"capabilities":`)
	capabilities, after, _ := strings.Cut(after, `,"repo":`)
	repo, _, _ := strings.Cut(after, `,"incomplete"`)
	const at = `"capabilities":{"sandbox_profile":"lint-offline"`
	lines := []string{
		line, line,
		strings.Replace(line, at, `"capabilities":{"sandbox_profile":1`, 1),              // the tool's
		strings.Replace(line, `"capabilities":{`, `"capabilities":{"x":1,`, 2),           // both
		strings.Replace(line, `"granted_by":[]}`, `"granted_by":[],"granted_by":[]}`, 1), // named twice
		strings.Replace(line, `"granted_by":[]}`, `"granted_by":[]}}`, 1),                // and more after it
		strings.Replace(line, `"granted_by":[]}`, `"granted_by":[]`, 1),                  // and its end
		strings.Replace(line, `"repo":`+repo, `"repo":`+capabilities, 1),                 // of the other type
		line, strings.ReplaceAll(line, at, ` "capabilities" : { "sandbox_profile":"lint-offline"`), line, // other space
	}
	r := NewReader(strings.NewReader(strings.Join(slices.Concat(lines, lines), "\n")), 0)
	for i, line := range slices.Concat(lines, lines) {
		_, want := ParseLine([]byte(line))
		if _, err := r.Next(); (err == nil) != (want == nil) || err != nil && err.Error() != want.Error() {
			t.Errorf("line %d: %v, alone %v", i, err, want)
		}
		if at := i % len(lines); (at > 1 && at < 8) != (want != nil) {
			t.Errorf("line %d: %v", i, want)
		}
	}
}
