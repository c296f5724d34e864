package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"ethos/pkg/cli"
)

// read is what these tests want to know of a line.
type read struct {
	ID     string
	Action struct{ Script string }
	Error  *struct{ Line int }
}

// TestLinesInOrder holds that scripts which are described at the same time leave in the order in which they came, each under
// an id that sorts so, and those that cannot be read among them.
func TestLinesInOrder(t *testing.T) {
	const n = 600
	var in strings.Builder
	for i := 1; i <= n; i++ {
		switch {
		case i%50 == 0: // takes long
			fmt.Fprintf(&in, "%s echo %d\n", strings.Repeat("a && ", 200), i)
		case i%7 == 0:
			fmt.Fprintf(&in, "echo \xff %d\n", i)
		default:
			fmt.Fprintf(&in, "echo %d\n", i)
		}
	}
	var out bytes.Buffer
	sys := system(t, strings.NewReader(in.String()))
	sys.Stdout, sys.Stderr = &out, io.Discard
	if status := run(sys, "--from", "lines"); status != cli.BadInput {
		t.Fatalf("status %d", status)
	}
	last, dec := "", json.NewDecoder(&out)
	for i := 1; i <= n; i++ {
		var l read
		if err := dec.Decode(&l); err != nil {
			t.Fatal(err)
		}
		if l.ID <= last {
			t.Fatalf("line %d: id %s after %s", i, l.ID, last)
		}
		last = l.ID
		bad := i%7 == 0 && i%50 != 0
		if bad && (l.Error == nil || l.Error.Line != i) || !bad && !strings.HasSuffix(l.Action.Script, fmt.Sprintf("echo %d", i)) {
			t.Fatalf("line %d: %+v", i, l)
		}
	}
	if dec.More() {
		t.Error("more lines than came")
	}
}

// TestLinesAnswerAtOnce holds that a record leaves before the next script comes, and that a reader which goes away ends the program.
func TestLinesAnswerAtOnce(t *testing.T) {
	in, scripts := io.Pipe()
	records, out := io.Pipe()
	sys := system(t, in)
	sys.Stdout, sys.Stderr = out, io.Discard
	ended := make(chan cli.Status)
	go func() { ended <- run(sys, "--from", "lines") }()
	answers := bufio.NewReader(records)
	for i := range 20 {
		fmt.Fprintf(scripts, "echo %d\n", i)
		text, err := answers.ReadBytes('\n')
		var l read
		if err := json.Unmarshal(text, &l); err != nil || l.Action.Script != fmt.Sprintf("echo %d", i) {
			t.Fatalf("%s: %v", text, err)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	records.Close()
	go fmt.Fprint(scripts, strings.Repeat("echo\n", 1000))
	if status := <-ended; status == cli.OK {
		t.Error("records that nobody reads, and the program is content")
	}
	in.Close()
}
