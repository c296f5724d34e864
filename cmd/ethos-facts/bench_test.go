package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"ethos/pkg/cli"
)

// everyday are scripts as agents write them.
var everyday = []string{
	"ls -la src && cat src/main.go | head -50",
	"git status --short && git diff --stat HEAD~1",
	"cd web && npm run build 2>&1 | tail -20",
	"go test ./... -run TestX -count=1",
	"for f in *.go; do gofmt -l \"$f\"; done",
	"grep -rn 'TODO' --include='*.go' . | sort | uniq -c > todo.txt",
	"docker compose up -d && sleep 2 && curl -fsS localhost:8080/health",
	"sed -i 's/old/new/g' README.md && git commit -am 'docs: rename'",
}

func system(t testing.TB, stdin io.Reader) *cli.System {
	dir := t.TempDir()
	return &cli.System{Name: "ethos-facts", Stdin: stdin, Stdout: io.Discard, Stderr: os.Stderr, Dir: dir, Environ: []string{"HOME=" + dir}, Now: time.Now}
}

// BenchmarkLines reports scripts a second of --from lines.
func BenchmarkLines(b *testing.B) {
	var in bytes.Buffer
	for i := range b.N {
		in.WriteString(everyday[i%len(everyday)] + "\n")
	}
	sys := system(b, &in)
	b.ResetTimer()
	if status := program().Run(context.Background(), sys, []string{"--from", "lines"}); status != cli.OK {
		b.Fatalf("status %d", status)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}

// BenchmarkOne is everything that one ethos-facts -c does but starting a process.
func BenchmarkOne(b *testing.B) {
	sys := system(b, strings.NewReader(""))
	if err := os.MkdirAll(filepath.Join(sys.Dir, ".git/objects"), 0o755); err != nil {
		b.Fatal(err)
	}
	for i := range b.N {
		if status := program().Run(context.Background(), sys, []string{"-c", everyday[i%len(everyday)]}); status != cli.OK {
			b.Fatalf("status %d", status)
		}
	}
}

// TestLinesNeedConstantMemory holds what one line leaves behind near nothing.
func TestLinesNeedConstantMemory(t *testing.T) {
	lines := strings.NewReader(strings.Repeat(strings.Join(everyday, "\n")+"\n", 800))
	before := heap()
	if status := program().Run(context.Background(), system(t, lines), []string{"--from", "lines"}); status != cli.OK {
		t.Fatalf("status %d", status)
	}
	if grown := heap() - before; grown > 4<<20 {
		t.Errorf("6,400 lines left %d bytes on the heap", grown)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
