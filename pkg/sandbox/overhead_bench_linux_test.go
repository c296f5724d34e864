package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/sandbox/kernel/steps"

	"golang.org/x/sys/unix"
)

// BenchmarkOverhead runs everyday commands outside and inside, in turn, and reports
// the least processor time of each, all processes counted, and their ratio. The
// start of the boundary is part of the inside.
func BenchmarkOverhead(b *testing.B) {
	probetest.Need(b, probetest.UserNS)
	exe := builtSandbox(b)
	for _, c := range []struct {
		name  string
		needs []string
		grow  func(*testing.B, string)
		argv  []string
	}{
		{"git-status", []string{"command:git"}, growRepository, []string{"git", "status", "--porcelain"}},
		{"find", nil, growText, []string{"find", ".", "-name", "*.none"}},
		{"grep", nil, growText, []string{"sh", "-c", "grep -r nothing-of-it . || true"}},
		{"go-build", []string{"command:go"}, growModule, []string{"sh", "-c", "rm -f a && go build -o a ."}},
		{"make", []string{"command:make"}, growMakefile, []string{"make", "-B"}},
		{"npm-test", []string{"command:npm"}, growPackage, []string{"npm", "test"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			probetest.Need(b, c.needs...)
			dir := b.TempDir()
			c.grow(b, dir)
			inside := append([]string{exe, "run", "--profile", "agent-shell", "--"}, c.argv...)
			processorTime(b, dir, c.argv...) // what is cached is cached for both
			processorTime(b, dir, inside...)
			var least [2]time.Duration
			for b.Loop() {
				for i, argv := range [][]string{c.argv, inside} {
					if took := processorTime(b, dir, argv...); least[i] == 0 || took < least[i] {
						least[i] = took
					}
				}
			}
			b.ReportMetric(float64(least[0].Microseconds())/1000, "ms-cpu/outside")
			b.ReportMetric(float64(least[1].Microseconds())/1000, "ms-cpu/inside")
			b.ReportMetric(float64(least[1])/float64(least[0]), "ratio")
		})
	}
}

func processorTime(b *testing.B, dir string, argv ...string) time.Duration {
	b.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LANG=C.UTF-8"} // what both sides have
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %v\n%s", argv, err, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// growText makes 50,000 files of 880 bytes in 500 directories.
func growText(b *testing.B, root string) {
	text := []byte(strings.Repeat("the quick brown fox jumps over the lazy dog\n", 20))
	for d := range 500 {
		dir := filepath.Join(root, fmt.Sprint("a", d/50), fmt.Sprint("b", d))
		mustDo(b, os.MkdirAll(dir, 0o755))
		for f := range 100 {
			mustDo(b, os.WriteFile(filepath.Join(dir, fmt.Sprint("f", f, ".txt")), text, 0o644))
		}
	}
}

func growRepository(b *testing.B, root string) {
	newRepository(b, root)
	growTree(b, root, 200, 49)
	for _, args := range [][]string{{"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "second"}} {
		if out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
}

func growModule(b *testing.B, root string) {
	mustDo(b, os.WriteFile(filepath.Join(root, "go.mod"), []byte("module a\n\ngo 1.21\n"), 0o644))
	mustDo(b, os.WriteFile(filepath.Join(root, "a.go"), []byte("package main\n\nimport (\n\t\"fmt\"\n\t\"net/http\"\n)\n\nfunc main() { fmt.Println(http.Get(\"x\")) }\n"), 0o644))
}

func growMakefile(b *testing.B, root string) {
	text := "all:"
	for i := range 500 {
		text += fmt.Sprint(" t", i)
	}
	mustDo(b, os.WriteFile(filepath.Join(root, "Makefile"), []byte(text+"\nt%:\n\t@/bin/echo $@ > $@\n"), 0o644))
}

func growPackage(b *testing.B, root string) {
	mustDo(b, os.WriteFile(filepath.Join(root, "package.json"), []byte(`{"name":"a","version":"1.0.0","scripts":{"test":"node --test"}}`), 0o644))
	for i := range 5 {
		mustDo(b, os.WriteFile(filepath.Join(root, fmt.Sprintf("a%d.test.js", i)), []byte("require('node:test')('passes', () => {});\n"), 0o644))
	}
}

func mustDo(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkOpen says which control costs how much of opening, reading and closing
// a file so many directories below the work space: every layer on, single ones
// left out, and the host.
func BenchmarkOpen(b *testing.B) {
	probetest.Need(b, probetest.UserNS)
	for _, depth := range []int{1, 4, 12} {
		b.Run(fmt.Sprint("depth=", depth), func(b *testing.B) { benchmarkOpen(b, strings.Repeat("d/", depth)) })
	}
}

func benchmarkOpen(b *testing.B, below string) {
	spec := script(b, "./test -test.run='^TestCall$' open "+below)
	self, err := os.Executable()
	mustDo(b, err)
	mustRun(b, exec.Command("cp", self, spec.Workspace+"/test"))
	dir := filepath.Join(spec.Workspace, below)
	mustDo(b, os.MkdirAll(dir, 0o755))
	for i := range 100 {
		mustDo(b, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), make([]byte, 880), 0o644))
	}
	plan, err := Build(spec, HostFiles{}, os.Geteuid())
	mustDo(b, err)
	without := func(calls ...string) func() string {
		return func() string {
			said, status := unverified(b, plan, func(s *steps.Step) {
				for _, call := range calls {
					if s.Call == call {
						s.Nr, s.Want = unix.SYS_GETPID, 0
					}
				}
			})
			if status != 0 {
				b.Fatalf("status %d: %s", status, said)
			}
			return said
		}
	}
	sides := []struct {
		name string
		run  func() string
	}{
		{"outside", func() string {
			cmd := exec.Command("sh", spec.Argv[1:]...)
			cmd.Dir = spec.Dir
			out, err := cmd.CombinedOutput()
			mustDo(b, err)
			return string(out)
		}},
		{"inside", without()},
		{"no-landlock", without("landlock_restrict_self")},
		{"no-seccomp", without("seccomp")},
		{"neither", without("landlock_restrict_self", "seccomp")},
	}
	least := make([]float64, len(sides))
	for b.Loop() {
		for i, side := range sides {
			var took float64
			said := side.run()
			if _, err := fmt.Sscanf(said, "%f ns", &took); err != nil {
				b.Fatalf("%s: %v: %s", side.name, err, said)
			}
			if least[i] == 0 || took < least[i] {
				least[i] = took
			}
		}
	}
	for i, side := range sides {
		b.ReportMetric(least[i], "ns/"+side.name)
	}
}

// openAll opens, reads and closes the files of a directory until it has done so
// 100,000 times, and prints the time of one: the least of 1,000 rounds, each short
// enough for the processor to be had without a break.
func openAll(dir string) error {
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	buffer := make([]byte, 4096)
	var least time.Duration
	for range 1000 {
		started := time.Now()
		for _, e := range list {
			fd, err := unix.Open(dir+e.Name(), unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			if _, err := unix.Read(fd, buffer); err != nil {
				return err
			}
			if err := unix.Close(fd); err != nil {
				return err
			}
		}
		if took := time.Since(started); least == 0 || took < least {
			least = took
		}
	}
	_, err = fmt.Printf("%d ns\n", least.Nanoseconds()/int64(len(list)))
	return err
}
