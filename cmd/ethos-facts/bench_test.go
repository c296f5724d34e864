package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
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

func run(sys *cli.System, args ...string) cli.Status {
	return program(args).Run(context.Background(), sys, args)
}

// BenchmarkLines reports scripts a second of --from lines.
func BenchmarkLines(b *testing.B) {
	var in bytes.Buffer
	for i := range b.N {
		in.WriteString(everyday[i%len(everyday)] + "\n")
	}
	sys := system(b, &in)
	b.ResetTimer()
	if status := run(sys, "--from", "lines"); status != cli.OK {
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
		if status := run(sys, "-c", everyday[i%len(everyday)]); status != cli.OK {
			b.Fatalf("status %d", status)
		}
	}
}

// build compiles the program as it is released.
func build(b *testing.B) string {
	b.Helper()
	name := filepath.Join(b.TempDir(), "ethos-facts")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", name, "ethos/cmd/ethos-facts")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return name
}

// BenchmarkCold is one `ethos-facts -c` from nothing: the process, its start-up, one script.
func BenchmarkCold(b *testing.B) {
	program := build(b)
	for i := 0; b.Loop(); i++ {
		cmd := exec.Command(program, "-c", everyday[i%len(everyday)])
		cmd.Dir = filepath.Dir(program)
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMemory reports what a process of few and one of many lines need at most: the same.
func BenchmarkMemory(b *testing.B) {
	program := build(b)
	for _, lines := range []int{1_000, 20_000} {
		b.Run(strconv.Itoa(lines), func(b *testing.B) {
			in := strings.Repeat(strings.Join(everyday, "\n")+"\n", lines/len(everyday))
			peak := int64(0)
			for b.Loop() {
				cmd := exec.Command(program, "--from", "lines")
				cmd.Dir, cmd.Stdin = filepath.Dir(program), strings.NewReader(in)
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				peak = max(peak, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
			}
			b.ReportMetric(float64(peak)/1024, "peak-MiB")
			b.ReportMetric(float64(lines)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}

// TestLinesNeedConstantMemory holds what one line leaves behind near nothing.
func TestLinesNeedConstantMemory(t *testing.T) {
	lines := strings.NewReader(strings.Repeat(strings.Join(everyday, "\n")+"\n", 800))
	before := heap()
	if status := run(system(t, lines), "--from", "lines"); status != cli.OK {
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
