package control

import (
	"errors"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/plan"
)

// TestControlsAreListed: what has a line in the evidence is what a person can
// require by name, in the same order, and no two controls have one name.
func TestControlsAreListed(t *testing.T) {
	var lines []string
	for _, c := range New(&Job{Plan: &plan.Plan{}}) {
		if line, ok := Line(c, false); ok {
			lines = append(lines, line.Name)
		}
	}
	if want := record.Controls(); !slices.Equal(lines, want) {
		t.Errorf("the evidence has %q, the list of names is %q", lines, want)
	}
	slices.Sort(lines)
	if len(slices.Compact(slices.Clone(lines))) != len(lines) {
		t.Errorf("two controls have one name: %q", lines)
	}
}

// TestDismantled: a run with layers waits until nothing keeps its mounts alive. Any
// other goes on, and its files are closed all the same.
func TestDismantled(t *testing.T) {
	for range 200 { // without the wait, some are still open
		for _, view := range []*plan.View{{}, nil} {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			j := &Job{Plan: &plan.Plan{View: view}}
			j.Unneeded(nil, w)
			j.Dismantle()
			j.Dismantled()
			if view != nil && !errors.Is(w.Close(), os.ErrClosed) {
				t.Fatal("with layers, a file is still open")
			}
			if err := r.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Read(make([]byte, 1)); err != io.EOF {
				t.Fatalf("a file is not closed: %v", err)
			}
			r.Close()
		}
	}
}
