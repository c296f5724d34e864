package main

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/facts"
	"ethos/pkg/record"
)

// BenchmarkDecide decides the everyday corpus; ns/op is for one record, from its text to its text.
func BenchmarkDecide(b *testing.B) {
	lines := everydayLines(b)
	b.SetBytes(int64(len(lines)))
	var all bytes.Buffer
	n := bytes.Count(lines, []byte{'\n'})
	for range b.N/n + 1 {
		all.Write(lines)
	}
	b.SetBytes(int64(len(lines) / n))
	b.ResetTimer()
	sys := &cli.System{Name: "ethos-decide", Stdin: &all, Stdout: io.Discard, Stderr: io.Discard, Dir: "/", Now: time.Now}
	if err := (&decideCmd{}).Run(context.Background(), sys); err != nil {
		b.Fatal(err)
	}
}

func everydayLines(b *testing.B) []byte {
	d, err := facts.New(facts.Options{Home: "/home/someone"})
	if err != nil {
		b.Fatal(err)
	}
	var lines []byte
	dir := b.TempDir()
	for _, s := range samples(b, "everyday.txt") {
		a, err := d.Place(record.Action{Kind: record.KindShell, Script: s.command, Cwd: dir})
		if err != nil {
			b.Fatal(err)
		}
		by := record.Actor{Mode: record.ModeSafe}
		f, err := d.Derive(a, by)
		if err != nil {
			b.Fatal(err)
		}
		l := record.NewLine("", time.Now(), a, by)
		if err := l.Set("facts", f); err != nil {
			b.Fatal(err)
		}
		lines = l.AppendTo(lines)
	}
	return lines
}
