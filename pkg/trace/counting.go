package trace

import (
	"runtime"
	"sync"
	"time"

	"ethos/pkg/timerslack"
)

// Counter counts lines on all processors. Close returns the statistics.
type Counter struct {
	batches chan batch
	batch   batch
	done    sync.WaitGroup
	mu      sync.Mutex
	stats   *Stats
}

// batch holds concatenated lines and the end of each.
type batch struct {
	text []byte
	ends []int
}

// batchBytes is the amount of text that a processor gets at a time.
const batchBytes = 1 << 20

// NewCounter starts counting. now and find have the meaning they have for [NewStats]; find must be
// safe for concurrent use.
func NewCounter(now time.Time, find func(*Entry)) *Counter {
	c := &Counter{batches: make(chan batch, runtime.GOMAXPROCS(0)), stats: NewStats(now, find)}
	for range runtime.GOMAXPROCS(0) {
		c.done.Add(1)
		go c.work()
	}
	return c
}

func (c *Counter) work() {
	defer c.done.Done()
	mine := NewStats(c.stats.now, c.stats.find)
	for batch := range c.batches {
		timerslack.Restore()
		from := 0
		for _, end := range batch.ends {
			mine.Add(batch.text[from:end])
			from = end
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Merge(mine)
}

// Add counts a line. It copies the text.
func (c *Counter) Add(text []byte) {
	if c.batch.text == nil {
		c.batch.text = make([]byte, 0, batchBytes+len(text))
	}
	c.batch.text = append(c.batch.text, text...)
	c.batch.ends = append(c.batch.ends, len(c.batch.text))
	if len(c.batch.text) >= batchBytes {
		c.flush()
	}
}

func (c *Counter) flush() {
	c.batches <- c.batch
	c.batch = batch{}
}

// Close waits until all lines are counted and returns the finished statistics.
func (c *Counter) Close() *Stats {
	c.flush()
	close(c.batches)
	c.done.Wait()
	return c.stats.Finish()
}
