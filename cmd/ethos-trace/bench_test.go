package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
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

// BenchmarkMillion puts 1,000,000 records through a process of its own, and reports its peak of memory.
func BenchmarkMillion(b *testing.B) {
	const rounds = 1000
	lines := benchLines(1000)
	b.SetBytes(int64(len(lines)) * rounds)
	for b.Loop() {
		cmd := exec.Command(self(b), "--no-store", "--sarif", "all.sarif")
		cmd.Dir, cmd.Stdin, cmd.Stdout = b.TempDir(), &flow{lines: lines, rounds: rounds}, io.Discard
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != int(cli.NegativeStatus) {
			b.Fatal(err)
		}
		reportUse(b, cmd.ProcessState)
	}
}

// reportUse reports what a process used: getrusage(2).
func reportUse(b *testing.B, p *os.ProcessState) {
	b.Helper()
	b.ReportMetric(float64(p.SysUsage().(*syscall.Rusage).Maxrss)/1024, "peak-MiB")
	b.ReportMetric(p.UserTime().Seconds()+p.SystemTime().Seconds(), "cpu-s/op")
}

// BenchmarkStats counts a store of 1 GB.
func BenchmarkStats(b *testing.B) {
	const size = 1 << 30
	store := filepath.Join(b.TempDir(), "2026", "01")
	if err := os.MkdirAll(store, 0o700); err != nil {
		b.Fatal(err)
	}
	day, err := os.OpenFile(filepath.Join(store, "02.ndjson"), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	lines := benchLines(1000)
	if _, err := io.Copy(day, &flow{lines: lines, rounds: size / len(lines)}); err != nil {
		b.Fatal(err)
	}
	day.Close()
	b.SetBytes(size)
	for b.Loop() {
		cmd := exec.Command(self(b), "stats", "--store", filepath.Dir(filepath.Dir(store)))
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		reportUse(b, cmd.ProcessState)
	}
}

// self is the program as a command: this test binary under its name, which testscript.Main put on the path.
func self(b *testing.B) string {
	b.Helper()
	path, err := exec.LookPath("ethos-trace")
	if err != nil {
		b.Fatal(err)
	}
	return path
}

func BenchmarkHuman(b *testing.B)  { benchPipe(b, "--no-store") }
func BenchmarkNDJSON(b *testing.B) { benchPipe(b, "--no-store", "--format", "ndjson") }
func BenchmarkSARIF(b *testing.B)  { benchPipe(b, "--no-store", "--format", "sarif") }
func BenchmarkHTML(b *testing.B)   { benchPipe(b, "--no-store", "--format", "html") }
func BenchmarkStore(b *testing.B)  { benchPipe(b, "--store", "kept", "--format", "ndjson") }
