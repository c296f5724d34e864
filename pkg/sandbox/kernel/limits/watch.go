package limits

import (
	"cmp"
	"context"
	"time"
)

// Watch samples a tree repeatedly and reports when it uses too much memory or
// has too many threads.
type Watch struct {
	Tree     Tree
	Limit    int64         // bytes; 0 is none
	Threads  int64         // 0 is none
	Interval time.Duration // between two samples; 0 is 100 ms. A fifth of it once half of a limit is used
	// Empty is how many samples in a row must find nothing before the watch
	// ends; 0 is one. A sample can miss a process that forks and exits
	// again and again.
	Empty int
	// Asleep, if set, reports that nothing in the tree can change. No sample is
	// taken then.
	Asleep func() bool
	// Seen, if set, is called with the largest numbers so far after each
	// sample.
	Seen func(peak Sample)
	// Over is called once, from Run, with the sample that exceeds the
	// limit. It must end the tree.
	Over func(Sample)
}

const (
	defaultInterval = 100 * time.Millisecond
	// costShare is the smallest ratio of the pause after a sample to the
	// time that the sample took: the watch uses at most a 50th of one
	// processor, however large the tree is.
	costShare = 49
	// longest is the longest pause. On an overloaded machine samples take
	// long, but memory is still being allocated.
	longest = 2 * time.Second
)

// Run watches until the context ends, the tree exceeds the limit, or nothing is
// left of it. It returns the largest numbers seen. An inexact sample over the
// limit is repeated exactly before Over is called. The error is non-nil if the
// tree could not be sampled any more; the caller must then not claim that it is
// watched.
func (w Watch) Run(ctx context.Context) (peak Sample, err error) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	empty := 0
	for {
		select {
		case <-ctx.Done():
			return peak, nil
		case <-timer.C:
		}
		if w.Asleep != nil && w.Asleep() {
			timer.Reset(cmp.Or(w.Interval, defaultInterval))
			continue
		}
		started := time.Now()
		sample, over, err := w.look()
		if err != nil {
			return peak, err
		}
		if peak = peak.union(sample); w.Seen != nil {
			w.Seen(peak)
		}
		if over {
			w.Over(sample)
		}
		if empty++; sample.Processes > 0 {
			empty = 0
		}
		if over || empty > max(0, w.Empty-1) {
			return peak, nil
		}
		timer.Reset(max(w.interval(sample), min(longest, costShare*time.Since(started))))
	}
}

// union returns the larger of each number.
func (s Sample) union(t Sample) Sample {
	if t.Bytes > s.Bytes {
		s.Bytes, s.Exact, s.Full = t.Bytes, t.Exact, t.Full
	}
	s.Processes, s.Threads = max(s.Processes, t.Processes), max(s.Threads, t.Threads)
	return s
}

func (w Watch) interval(last Sample) time.Duration {
	interval := cmp.Or(w.Interval, defaultInterval)
	if w.Limit > 0 && last.Bytes > w.Limit/2 || w.Threads > 0 && int64(last.Threads) > w.Threads/2 {
		interval /= 5
	}
	return interval
}

// look takes a cheap sample, and an exact one if the cheap one exceeds the
// memory limit.
func (w Watch) look() (sample Sample, over bool, err error) {
	if sample, err = w.Tree.Sample(false); err != nil {
		return sample, false, err
	}
	if w.Threads > 0 && int64(sample.Threads) > w.Threads {
		return sample, true, nil
	}
	if w.Limit <= 0 || sample.Bytes <= w.Limit {
		return sample, false, nil
	}
	if sample, err = w.Tree.Sample(true); err != nil {
		return sample, false, err
	}
	return sample, sample.Bytes > w.Limit, nil
}
