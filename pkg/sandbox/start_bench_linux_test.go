package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
)

// BenchmarkStart times `run -- true`, every layer on, and bubblewrap with namespaces, a read-only root, proc and dev, in turn, so that both meet the same machine.
// It reports the median of each and their ratio.
func BenchmarkStart(b *testing.B) {
	probetest.Need(b, probetest.UserNS, "command:bwrap")
	exe := filepath.Join(b.TempDir(), "ethos-sandbox")
	build := exec.Command("go", "build", "-trimpath", "-o", exe, "ethos/cmd/ethos-sandbox")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	dir := b.TempDir()
	once := func(argv ...string) time.Duration {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = dir
		started := time.Now()
		if err := cmd.Run(); err != nil {
			b.Fatalf("%v: %v", argv, err)
		}
		return time.Since(started)
	}
	var ours, theirs []time.Duration
	for b.Loop() {
		ours = append(ours, once(exe, "run", "--", "true"))
		theirs = append(theirs, once("bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true"))
	}
	a, c := median(ours), median(theirs)
	b.ReportMetric(float64(a.Microseconds())/1000, "ms/run")
	b.ReportMetric(float64(c.Microseconds())/1000, "ms/bwrap")
	b.ReportMetric(float64(a)/float64(c), "ratio")
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}
