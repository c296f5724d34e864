package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"ethos/pkg/cli"
)

// flow is a stream of records that looks at the heap on its way: at a third, when every bounded table is full, and at its end.
type flow struct {
	lines  []byte // some records
	rounds int
	round  int
	rest   []byte
	early  uint64
	late   uint64
}

// Read gives the lines again and again, each time with other ids.
func (f *flow) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		if f.round == f.rounds/3 {
			f.early = heap()
		}
		if f.round == f.rounds {
			f.late = heap()
			return 0, io.EOF
		}
		f.round++
		f.rest = bytes.ReplaceAll(f.lines, []byte("0197f6a0-0000"), fmt.Appendf(nil, "0197f6a0-%04d", f.round))
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestConstantMemory holds every form of the report to memory that does not grow with the records: what comes after the first third of them is more
// than twice of what the heap may grow by.
func TestConstantMemory(t *testing.T) {
	for _, format := range []string{"human", "ndjson", "sarif", "markdown", "html"} {
		t.Run(format, func(t *testing.T) {
			in := &flow{lines: benchLines(300), rounds: 12}
			sys := &cli.System{Name: "ethos-trace", Stdin: in, Stdout: io.Discard, Stderr: io.Discard, Dir: t.TempDir(), Now: time.Now}
			if got := program().Run(context.Background(), sys, []string{"--no-store", "--format", format}); got != cli.NegativeStatus {
				t.Fatalf("status %d", got)
			}
			if more := len(in.lines) * in.rounds * 2 / 3; in.late > in.early+uint64(more)/2 {
				t.Errorf("the heap grew from %d to %d bytes, while %d came in", in.early, in.late, more)
			}
		})
	}
}
