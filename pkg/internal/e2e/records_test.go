package e2e

import (
	"errors"
	"testing"

	"ethos/pkg/record"
)

// parse reads lines of output; every one must be valid.
func parse(t *testing.T, o outcome) []*record.Line {
	t.Helper()
	var lines []*record.Line
	for _, text := range o.lines() {
		line, err := record.ParseLine([]byte(text))
		if err != nil {
			t.Fatalf("a program wrote a line that is not valid: %v\n%s", err, clip(text))
		}
		lines = append(lines, line)
	}
	return lines
}

// actions are the action lines among them.
func actions(t *testing.T, o outcome) []*record.Line {
	t.Helper()
	var found []*record.Line
	for _, line := range parse(t, o) {
		if line.Kind() == record.LineAction {
			found = append(found, line)
		}
	}
	return found
}

// theAction is the only action line.
func theAction(t *testing.T, o outcome) *record.Line {
	t.Helper()
	found := actions(t, o)
	if len(found) != 1 {
		t.Fatalf("wanted one action line, found %d: %v", len(found), o)
	}
	return found[0]
}

// member decodes one member; the zero value when the line has none.
func member[T any](t *testing.T, line *record.Line, name string) T {
	t.Helper()
	var v T
	if err := line.Decode(name, &v); err != nil && !errors.Is(err, record.ErrAbsent) {
		t.Fatal(err)
	}
	return v
}
