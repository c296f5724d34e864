package main

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/record"
)

// TestHalfALineKeepsNothingBack: lines that are there are handed over while the next one is still being written.
func TestHalfALineKeepsNothingBack(t *testing.T) {
	const line = `{"schema":"ethos/v1","id":"a","error":{"stage":"facts","line":1,"code":"c","message":"m","input_sha256":"","input_prefix":""}}` + "\n"
	in, out := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	items := make(chan []item)
	go produce(ctx, record.NewReader(in, 0), items)
	go func() { _, _ = io.WriteString(out, strings.Repeat(line, 3)+line[:20]) }()
	for n := 0; n < 3; {
		list := <-items
		for _, it := range list {
			if it.err != nil {
				t.Fatal(it.err)
			}
		}
		n += len(list)
	}
	go func() {
		_, _ = io.WriteString(out, line[20:])
		out.Close()
	}()
	var rest int
	for list := range items {
		rest += len(list)
	}
	if rest != 1 {
		t.Errorf("%d lines at the end", rest)
	}
}

// TestReportKeepsNothingBack: each form that reports at once does so while the next line is still being written.
func TestReportKeepsNothingBack(t *testing.T) {
	const line = `{"schema":"ethos/v1","id":"a","error":{"stage":"facts","line":1,"code":"c","message":"what is wrong","input_sha256":"","input_prefix":""}}` + "\n"
	for _, format := range []string{"human", "ndjson"} {
		t.Run(format, func(t *testing.T) {
			in, to := io.Pipe()
			from, out := io.Pipe()
			sys := &cli.System{Name: "ethos-trace", Stdin: in, Stdout: out, Stderr: io.Discard, Dir: t.TempDir(), Now: time.Now}
			go func() {
				program().Run(t.Context(), sys, []string{"--no-store", "--format", format})
				out.Close()
			}()
			go func() { _, _ = io.WriteString(to, line+line[:20]) }()
			if first, err := bufio.NewReader(from).ReadString('\n'); err != nil || !strings.Contains(first, "what is wrong") {
				t.Errorf("%q, %v", first, err)
			}
			to.Close()
			_, _ = io.Copy(io.Discard, from)
		})
	}
}
