package main

import (
	"strings"
	"testing"
	"time"

	"ethos/pkg/record"
)

// TestFit: a result that is too long for the next stage loses output, then the
// later connections, of which it keeps the number; a short one loses nothing.
func TestFit(t *testing.T) {
	const all, limit = 1000, 64 << 10
	for name, test := range map[string]struct {
		output, connections int
		whole               bool
	}{
		"short":            {100, 10, true},
		"long output":      {limit, 10, true},
		"many connections": {limit, all, false},
	} {
		l := record.NewLine("", time.Now(), record.Action{Kind: record.KindExec, Argv: []string{"x"}, Cwd: "/", Workspace: "/"}, record.Actor{Mode: record.ModeSafe})
		r := record.Result{Status: record.StatusExited}
		r.Capture.Stdout.Text = strings.Repeat("x", test.output)
		for range test.connections {
			r.Capture.Sandbox.Connections = append(r.Capture.Sandbox.Connections, record.Connection{Name: strings.Repeat("n", 100)})
		}
		if err := fit(l, r, limit); err != nil {
			t.Fatal(err)
		}
		var got record.Result
		if err := l.Decode("result", &got); err != nil {
			t.Fatal(err)
		}
		s := got.Capture.Sandbox
		if n := len(l.AppendTo(nil)); n > limit || len(s.Connections)+s.ConnectionsMore != test.connections || (s.ConnectionsMore == 0) != test.whole || len(s.Connections) == 0 {
			t.Errorf("%s: %d bytes, %d connections and %d more", name, n, len(s.Connections), s.ConnectionsMore)
		}
	}
}
