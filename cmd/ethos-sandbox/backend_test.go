package main

import (
	"strings"
	"testing"

	"ethos/pkg/sandbox"
)

// TestWeaker: what a backend leaves open is said, and nothing where it is not.
func TestWeaker(t *testing.T) {
	for _, c := range []struct {
		backend string
		uid     int
		want    string
	}{
		{"", 0, ""},
		{sandbox.Landlock, 1000, ""},
		{sandbox.Bwrap, 1000, ""},
		{sandbox.Bwrap, 0, "device nodes"},
		{sandbox.Landlock, 0, "every file of root"},
		{sandbox.Seatbelt, 1000, "never been tested"},
		{sandbox.None, 1000, "nothing is isolated"},
	} {
		says, way := weaker(c.backend, c.uid)
		if (says == "") != (c.want == "") || !strings.Contains(says, c.want) || (says == "") != (way == "") {
			t.Errorf("%q %d: %q, %q", c.backend, c.uid, says, way)
		}
	}
}
