package quarantine

import (
	"context"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// BenchmarkRun is what the comparison costs a run that leaves nothing, in trees
// with so many repositories.
func BenchmarkRun(b *testing.B) {
	for _, count := range []int{1, 32, 500} {
		b.Run(fmt.Sprintf("repositories=%d", count), func(b *testing.B) {
			w := newWorkspace(b)
			w.sh(fmt.Sprintf(`git init -q 1; cd 1; for i in 1 2 3 4 5 6 7 8 9; do echo $i > f$i; git add .; git commit -qm $i; done; cd ..; for i in $(seq 2 %d); do cp -a 1 $i; done; find . -type d | xargs touch -d '1 hour ago'`, count))
			var before, after unix.Rusage
			_ = unix.Getrusage(unix.RUSAGE_SELF, &before)
			runs := 0
			for b.Loop() {
				runs++
				s := Begin(context.Background(), w.Scope)
				if found := s.Finish(context.Background()); len(found) > 0 {
					b.Fatal(found)
				}
				s.Close()
			}
			_ = unix.Getrusage(unix.RUSAGE_SELF, &after)
			b.ReportMetric(float64(after.Utime.Nano()+after.Stime.Nano()-before.Utime.Nano()-before.Stime.Nano())/float64(runs)/1e6, "cpu-ms/op")
		})
	}
}
