package trace

import (
	"runtime"
	"sync"
)

// Counter counts lines on all processors. Close it to get the statistics.
type Counter struct {
	batches chan [][]byte
	batch   [][]byte
	size    int
	done    sync.WaitGroup
	mu      sync.Mutex
	stats   *Stats
}

// batchBytes is how much text goes to a processor at a time.
const batchBytes = 1 << 20

// NewCounter starts counting; find is that of [NewStats] and must be safe for concurrent use.
func NewCounter(find func(*Entry)) *Counter {
	c := &Counter{batches: make(chan [][]byte, runtime.GOMAXPROCS(0)), stats: NewStats(find)}
	for range runtime.GOMAXPROCS(0) {
		c.done.Add(1)
		go c.work()
	}
	return c
}

func (c *Counter) work() {
	defer c.done.Done()
	mine := NewStats(c.stats.find)
	for batch := range c.batches {
		for _, text := range batch {
			mine.Add(text)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Merge(mine)
}

// Add counts a line; the text is copied.
func (c *Counter) Add(text []byte) {
	c.batch = append(c.batch, append([]byte(nil), text...))
	if c.size += len(text); c.size >= batchBytes {
		c.flush()
	}
}

func (c *Counter) flush() {
	c.batches <- c.batch
	c.batch, c.size = nil, 0
}

// Close waits until all lines are counted and returns the finished statistics.
func (c *Counter) Close() *Stats {
	c.flush()
	close(c.batches)
	c.done.Wait()
	return c.stats.Finish()
}
