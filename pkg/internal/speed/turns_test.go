package speed

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
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
// ends with success. Its output goes to a file, because to read it from a pipe
// would take longer than some programs do.
func program(b *testing.B, prepare func(*exec.Cmd), argv ...string) func() took {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		b.Fatal(err)
	}
	out, err := os.Create(filepath.Join(b.TempDir(), "out"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { out.Close() })
	return func() took {
		cmd := exec.Command(path, argv[1:]...)
		if prepare != nil {
			prepare(cmd)
		}
		if cmd.Stdout == nil {
			cmd.Stdout = out
		}
		cmd.Stderr = out
		if err := errors.Join(out.Truncate(0), rewind(out)); err != nil {
			b.Fatal(err)
		}
		var before, after syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &before)
		started := time.Now()
		err := cmd.Run()
		wall := time.Since(started)
		_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &after)
		if err != nil {
			text, _ := os.ReadFile(out.Name())
			b.Fatalf("%v: %v\n%s", argv, err, text)
		}
		return took{wall, used(&after) - used(&before)}
	}
}

func rewind(f *os.File) error {
	_, err := f.Seek(0, io.SeekStart)
	return err
}

// used is the processor time of all children that were waited for: getrusage(2).
func used(r *syscall.Rusage) time.Duration {
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
