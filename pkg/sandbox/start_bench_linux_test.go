package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
)

// BenchmarkStartWithEgress times `run -- true` with names allowed and without,
// and where it is installed `srt` (npm, @anthropic-ai/sandbox-runtime), in turn.
// It reports the median of each and their ratios.
func BenchmarkStartWithEgress(b *testing.B) {
	probetest.Need(b, probetest.UserNS)
	commands := map[string][]string{"names": {"run", "--allow-domain", "example.com", "--", "true"}, "loopback": {"run", "--", "true"}}
	exe := builtSandbox(b)
	for name, args := range commands {
		commands[name] = append([]string{exe}, args...)
	}
	if srt, err := exec.LookPath("srt"); err == nil {
		commands["srt"] = []string{srt, "true"}
	}
	dir, times := b.TempDir(), map[string][]time.Duration{}
	for b.Loop() {
		for name, argv := range commands {
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Dir = dir
			started := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v: %v\n%s", argv, err, out)
			}
			times[name] = append(times[name], time.Since(started))
		}
	}
	names := median(times["names"])
	for name, list := range times {
		b.ReportMetric(float64(median(list).Microseconds())/1000, "ms/"+name)
		if name != "names" {
			b.ReportMetric(float64(names)/float64(median(list)), "ratio-to-"+name)
		}
	}
}

// builtSandbox builds the program as it is installed.
func builtSandbox(b *testing.B) string {
	exe := filepath.Join(b.TempDir(), "ethos-sandbox")
	build := exec.Command("go", "build", "-trimpath", "-o", exe, "ethos/cmd/ethos-sandbox")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return exe
}

// times are those of one run: by the clock on the wall, and of the processors, with
// what the run has waited for.
type times struct{ wall, processor time.Duration }

func all(list []times, of func(times) time.Duration) (out []time.Duration) {
	for _, t := range list {
		out = append(out, of(t))
	}
	return out
}

// BenchmarkStartInWorkspace times `run --profile workspace -- true` in a large
// work space and in an empty one, in turn. It reports the median of both times of
// each, and their ratios.
func BenchmarkStartInWorkspace(b *testing.B) {
	probetest.Need(b, probetest.UserNS)
	exe := builtSandbox(b)
	for _, size := range []struct{ dirs, files, repositories int }{{100, 9, 0}, {2000, 99, 0}, {20_000, 1, 0}, {100, 9, 100}} {
		name := fmt.Sprintf("dirs=%d/entries=%d/repositories=%d", size.dirs, size.dirs*(size.files+1), size.repositories)
		b.Run(name, func(b *testing.B) {
			large, empty := b.TempDir(), b.TempDir()
			growTree(b, large, size.dirs, size.files)
			for i := range size.repositories {
				newRepository(b, filepath.Join(large, fmt.Sprint("repository", i)))
			}
			environ := append(os.Environ(), "XDG_STATE_HOME="+b.TempDir())
			once := func(dir string) (t times) {
				cmd := exec.Command(exe, "run", "--profile", "workspace", "--", "true")
				cmd.Dir, cmd.Env = dir, environ
				started := time.Now()
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
				return times{time.Since(started), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
			}
			for range 3 { // until the memory is whole
				once(large)
				once(empty)
			}
			var here, there []times
			for b.Loop() {
				here = append(here, once(large))
				there = append(there, once(empty))
			}
			report := func(unit, ratio string, of func(times) time.Duration) {
				a, c := median(all(here, of)), median(all(there, of))
				b.ReportMetric(float64(a.Microseconds())/1000, unit+"/run")
				b.ReportMetric(float64(c.Microseconds())/1000, unit+"/empty")
				b.ReportMetric(float64(a)/float64(c), ratio)
			}
			report("ms", "ratio", func(t times) time.Duration { return t.wall })
			report("cpu-ms", "cpu-ratio", func(t times) time.Duration { return t.processor })
		})
	}
}

// growTree makes directories, eight in one, and files in each.
func growTree(b *testing.B, root string, dirs, files int) {
	list := []string{root}
	for i := 1; i < dirs; i++ {
		list = append(list, fmt.Sprintf("%s/directory%d", list[(i-1)/8], i))
	}
	for _, dir := range list {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for k := range files {
			if err := syscall.Mknod(fmt.Sprintf("%s/file%d.go", dir, k), syscall.S_IFREG|0o644, 0); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// newRepository makes a repository with one commit.
func newRepository(b *testing.B, dir string) {
	for _, args := range [][]string{
		{"init", "-q", dir},
		{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "first"},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}
