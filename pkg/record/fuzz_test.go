package record

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"reflect"
	"testing"
	"unicode/utf8"
)

func seed(f *testing.F) {
	for _, file := range []string{"accepted", "refused"} {
		text, err := os.ReadFile("../../testdata/records/" + file + ".ndjson")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		for line := range bytes.Lines(text) {
			f.Add(line)
		}
	}
	f.Add([]byte(sample[:50]))
	f.Add([]byte("\n\n\r\n \n"))
	f.Add([]byte("{\"a\":\"\x00\xff\"}"))
}

// FuzzParseLine: never a panic; what is accepted is JSON to encoding/json too, comes out as it went in, and survives being rebuilt.
func FuzzParseLine(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := ParseLine(text)
		onePass(t, text)
		if err != nil {
			return
		}
		if !json.Valid(text) {
			t.Fatalf("accepted what encoding/json refuses: %q", text)
		}
		if got := l.AppendTo(nil); !bytes.Equal(got, append(bytes.Clone(text), '\n')) {
			t.Fatalf("changed: %q", got)
		}
		if err := l.Set("x-note", "n"); err != nil {
			t.Fatal(err)
		}
		rebuilt := bytes.TrimSuffix(l.AppendTo(nil), []byte("\n"))
		again, err := ParseLine(rebuilt)
		if err != nil {
			t.Fatalf("rebuilt line refused: %v: %q", err, rebuilt)
		}
		if l.Kind() != again.Kind() || l.ID() != again.ID() {
			t.Fatalf("kind or id changed: %q", rebuilt)
		}
		before, err1 := l.Subject()
		after, err2 := again.Subject()
		if before != after || (err1 == nil) != (err2 == nil) {
			t.Fatalf("subject changed: %v %v", err1, err2)
		}
	})
}

// onePass: reading a line in one pass accepts what the two passes accept that find its first fault,
// with the same members and values, and with the brief facts alone if they are only checked.
func onePass(t *testing.T, text []byte) {
	t.Helper()
	if !utf8.Valid(text) {
		return
	}
	for _, facts := range []bool{true, false} {
		one, two := &Line{text: text}, &Line{text: text}
		accepted, fault := one.read(facts, nil), two.fault()
		if accepted != (fault == nil) {
			t.Fatalf("in one pass %v, in two %v: %q", accepted, fault, text)
		}
		if i := two.index("facts"); i >= 0 && !facts && accepted {
			if want := briefly(two.values[i].(*Facts)); !reflect.DeepEqual(one.brief, want) {
				t.Fatalf("brief facts %+v, want %+v: %q", one.brief, want, text)
			}
			two.values[i] = nil
		}
		if accepted && len(one.members)+len(two.members) > 0 && (!reflect.DeepEqual(one.members, two.members) || !reflect.DeepEqual(one.values, two.values)) {
			t.Fatalf("in one pass\n%v\n%v, in two\n%v\n%v: %q", one.members, one.values, two.members, two.values, text)
		}
	}
}

// briefly is what remains of facts in brief.
func briefly(f *Facts) *Facts {
	brief := &Facts{Tool: Tool{ID: f.Tool.ID, Format: f.Tool.Format}}
	for _, c := range f.Shell.Commands[:min(len(f.Shell.Commands), 1)] {
		brief.Shell.Commands = []Command{{Name: c.Name, Line: c.Line, Column: c.Column}}
	}
	return brief
}

// FuzzFilter: as many lines out as in, each valid, whatever the input.
func FuzzFilter(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		want := bytes.Count(text, []byte("\n"))
		if len(text) > 0 && text[len(text)-1] != '\n' {
			want++
		}
		var out bytes.Buffer
		tally, err := Filter{Stage: "trace", MaxLine: 4096, In: bytes.NewReader(text), Out: &out}.Run(context.Background(), func(*Line) error { return nil })
		if err != nil || tally.Lines != want {
			t.Fatalf("%d lines read of %d, %v", tally.Lines, want, err)
		}
		if got := bytes.Count(out.Bytes(), []byte("\n")); got != want {
			t.Fatalf("%d lines written of %d", got, want)
		}
		for line := range bytes.Lines(out.Bytes()) {
			if _, err := ParseLine(bytes.TrimSuffix(line, []byte("\n"))); err != nil {
				t.Fatalf("wrote a bad line: %v: %q", err, line)
			}
		}
	})
}
