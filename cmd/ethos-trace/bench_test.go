package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/record"
)

// benchLines are n records as the pipe carries them: most ran, some found something, some were denied.
func benchLines(n int) []byte {
	var out bytes.Buffer
	for i := range n {
		a := record.Action{Kind: record.KindExec, Argv: []string{"go", "vet", "./..."}, Cwd: "/home/u/p", Workspace: "/home/u/p"}
		l := record.NewLine(fmt.Sprintf("0197f6a0-0000-7000-8000-%012d", i), time.Unix(1_700_000_000, 0), a, record.Actor{Agent: "claude", Mode: record.ModeSafe})
		set := func(name string, v any) {
			if err := l.Set(name, v); err != nil {
				panic(err)
			}
		}
		set("facts", record.Facts{Tool: record.Tool{ID: "go-vet", Format: "go-vet"}, Shell: record.Shell{Commands: []record.Command{{Name: "go", Path: "go", Raw: "go vet ./..."}}}})
		d := record.Decision{Verdict: record.VerdictAllow, Policy: record.PolicySet{Packs: []string{"core"}, Evaluated: 31}}
		r := record.Result{Status: record.StatusExited, Started: "2026-01-02T03:04:05Z", DurationMS: float64(i % 5000)}
		switch i % 10 {
		case 1:
			r.ExitCode = 1
			r.Capture.Stderr.Text = fmt.Sprintf("# p\nfile%d.go:3:4: wrong\n", i%1000)
		case 2:
			d = record.Decision{Verdict: record.VerdictDeny, Matches: []record.Match{{ID: "core.bad", Effect: record.VerdictDeny, Message: "m", Remedy: "r", File: "pack:core/x.yaml", Line: 1}}}
			r = record.Result{Status: record.StatusDenied, Reason: "decision.deny"}
		}
		set("decision", d)
		set("result", r)
		out.Write(l.AppendTo(nil))
	}
	return out.Bytes()
}

// benchPipe puts records through the whole program.
func benchPipe(b *testing.B, args ...string) {
	const n = 2000
	lines := benchLines(n)
	dir := b.TempDir()
	b.SetBytes(int64(len(lines)))
	for b.Loop() {
		sys := &cli.System{Name: "ethos-trace", Stdin: bytes.NewReader(lines), Stdout: io.Discard, Stderr: os.Stderr, Dir: dir, Now: time.Now}
		if got := program().Run(context.Background(), sys, args); got != cli.NegativeStatus {
			b.Fatalf("status %d", got)
		}
	}
	b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "records/s")
}

func BenchmarkHuman(b *testing.B)  { benchPipe(b, "--no-store") }
func BenchmarkNDJSON(b *testing.B) { benchPipe(b, "--no-store", "--format", "ndjson") }
func BenchmarkSARIF(b *testing.B)  { benchPipe(b, "--no-store", "--format", "sarif") }
func BenchmarkHTML(b *testing.B)   { benchPipe(b, "--no-store", "--format", "html") }
func BenchmarkStore(b *testing.B)  { benchPipe(b, "--store", "kept", "--format", "ndjson") }
