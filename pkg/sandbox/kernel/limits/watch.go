package limits

import (
	"cmp"
	"context"
	"time"
)

// Watch looks at a tree again and again and says when it has too much memory.
type Watch struct {
	Tree     Tree
	Limit    int64         // bytes
	Interval time.Duration // between two looks; 0 is 100 ms. A fifth of it where more than half of the limit is used
	// Over is called once, from Run, with the sample that is over the limit; it is to end the tree.
	Over func(Sample)
}

const (
	defaultInterval = 100 * time.Millisecond
	// costShare is how many times longer than a look the pause after it is at least: the watch takes at most a 50th of
	// one processor, however large the tree.
	costShare = 49
	// longest is the longest pause: on a machine with more to do than it can, looks take long and memory is taken all the same.
	longest = 2 * time.Second
)

// Run watches until the context ends, the tree is over the limit, or nothing is left of it, and returns the largest
// numbers seen. An inexact sample over the limit is taken again exactly before Over is called. The error is of a tree
// that could not be looked at any more; the caller must then not claim that it is watched.
func (w Watch) Run(ctx context.Context) (peak Sample, err error) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return peak, nil
		case <-timer.C:
		}
		started := time.Now()
		sample, over, err := w.look()
		if err != nil {
			return peak, err
		}
		peak = peak.union(sample)
		if over {
			w.Over(sample)
		}
		if over || sample.Processes == 0 {
			return peak, nil
		}
		timer.Reset(max(w.interval(sample), min(longest, costShare*time.Since(started))))
	}
}

// union has the larger of each number.
func (s Sample) union(t Sample) Sample {
	if t.Bytes > s.Bytes {
		s.Bytes, s.Exact, s.Full = t.Bytes, t.Exact, t.Full
	}
	s.Processes = max(s.Processes, t.Processes)
	return s
}

func (w Watch) interval(last Sample) time.Duration {
	interval := cmp.Or(w.Interval, defaultInterval)
	if last.Bytes > w.Limit/2 {
		interval /= 5
	}
	return interval
}

// look takes a cheap sample, and an exact one where the cheap one is over the limit.
func (w Watch) look() (sample Sample, over bool, err error) {
	if sample, err = w.Tree.Sample(false); err != nil || sample.Bytes <= w.Limit {
		return sample, false, err
	}
	if sample, err = w.Tree.Sample(true); err != nil {
		return sample, false, err
	}
	return sample, sample.Bytes > w.Limit, nil
}
