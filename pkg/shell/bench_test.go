package shell

import "testing"

// everyday is what agents mostly run.
var everyday = []string{
	"go test ./...", "git status", "ls -la src", "cd sub && go vet ./... 2>&1 | tail -20", "grep -rn 'pattern' . | head -5",
	"sed -i 's/a/b/' main.go", "git commit -m 'fix: a thing'", "for f in *.go; do gofmt -l \"$f\"; done", "rm -rf build dist",
	"bash -c 'make && ./run --fast'", "cat <<'EOF' > out.txt\nsome text\nEOF", "sudo -u app env A=b timeout 5 ./server &",
}

// BenchmarkEveryday is one script a round: its inverse is lines a second.
func BenchmarkEveryday(b *testing.B) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		Analyze(everyday[i%len(everyday)], caseOptions)
	}
}

func BenchmarkSimple(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Analyze("go test ./...", caseOptions)
	}
}

func BenchmarkArgv(b *testing.B) {
	b.ReportAllocs()
	argv := []string{"go", "vet", "./..."}
	for b.Loop() {
		AnalyzeArgv(argv, caseOptions)
	}
}

// BenchmarkHostile reads 1 MiB of each text that is made to be expensive.
func BenchmarkHostile(b *testing.B) {
	for _, s := range hostile(1 << 20) {
		b.Run(s.name, func(b *testing.B) {
			for b.Loop() {
				Analyze(s.script, caseOptions)
			}
		})
	}
}
