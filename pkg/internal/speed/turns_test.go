package speed

import (
	"math/rand/v2"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"
)

// took is what one run took: by the clock on the wall, and of the processors.
type took struct{ wall, processor time.Duration }

// contender takes part in a comparison.
type contender struct {
	name string
	run  func() took
}

// sample is what the runs of one took.
type sample []took

func wall(t took) time.Duration      { return t.wall }
func processor(t took) time.Duration { return t.processor }

// spread is the least, the median and the most.
func (s sample) spread(of func(took) time.Duration) (least, median, most time.Duration) {
	list := make([]time.Duration, len(s))
	for i, t := range s {
		list[i] = of(t)
	}
	slices.Sort(list)
	return list[0], list[len(list)/2], list[len(list)-1]
}

// inTurn runs each once a round, in another order each time. A first round counts
// for nothing: it fills caches.
func inTurn(rounds int, list ...contender) map[string]sample {
	samples := map[string]sample{}
	for round := range rounds + 1 {
		for _, i := range rand.Perm(len(list)) {
			if t := list[i].run(); round > 0 {
				samples[list[i].name] = append(samples[list[i].name], t)
			}
		}
	}
	return samples
}

// program runs a command; prepare, which may be nil, gets it before each start. It
// ends with success.
func program(b *testing.B, prepare func(*exec.Cmd), argv ...string) func() took {
	return func() took {
		cmd := exec.Command(argv[0], argv[1:]...)
		if prepare != nil {
			prepare(cmd)
		}
		var before, after syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &before)
		started := time.Now()
		var out []byte
		var err error
		if cmd.Stdout == nil {
			out, err = cmd.CombinedOutput()
		} else {
			err = cmd.Run()
		}
		wall := time.Since(started)
		_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &after)
		if err != nil {
			b.Fatalf("%v: %v\n%s", argv, err, out)
		}
		return took{wall, used(&after) - used(&before)}
	}
}

// used is the processor time of all children that were waited for: getrusage(2).
func used(r *syscall.Rusage) time.Duration {
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
