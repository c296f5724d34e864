package main

import (
	"context"
	"io"
	"strings"
	"testing"

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
