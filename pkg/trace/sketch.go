package trace

import "math"

// sketch counts durations in buckets that grow by a constant factor, so that any quantile is
// accurate to one percent in constant memory. The idea is that of DDSketch (Masson, Rim and Lee,
// VLDB 2019).
type sketch struct {
	n       int
	min     float64
	max     float64
	sum     float64
	buckets [sketchBuckets]uint32
}

const (
	sketchGamma   = 1.02
	sketchLowest  = 1e-3 // milliseconds; shorter durations are in the first bucket
	sketchBuckets = 1300 // up to 1e-3 · 1.02^1299 ms, about 4 years
)

func (s *sketch) add(ms float64) {
	if ms < 0 || math.IsNaN(ms) {
		return
	}
	if s.n == 0 || ms < s.min {
		s.min = ms
	}
	s.max = max(s.max, ms)
	s.sum += ms
	s.n++
	s.buckets[bucketOf(ms)]++
}

func (s *sketch) merge(o *sketch) {
	if o.n == 0 {
		return
	}
	if s.n == 0 || o.min < s.min {
		s.min = o.min
	}
	s.max = max(s.max, o.max)
	s.n += o.n
	s.sum += o.sum
	for i, n := range o.buckets {
		s.buckets[i] += n
	}
}

func bucketOf(ms float64) int {
	if ms <= sketchLowest {
		return 0
	}
	return min(int(math.Ceil(math.Log(ms/sketchLowest)/math.Log(sketchGamma))), sketchBuckets-1)
}

// quantile returns the least value that at least the fraction q of the counted values does not
// exceed.
func (s *sketch) quantile(q float64) float64 {
	if s.n == 0 {
		return 0
	}
	rank := uint64(max(math.Ceil(q*float64(s.n)), 1)) - 1
	var below uint64
	for i, count := range s.buckets {
		below += uint64(count)
		if below > rank {
			middle := sketchLowest * math.Pow(sketchGamma, float64(i)) * 2 / (1 + sketchGamma)
			return min(max(middle, s.min), s.max)
		}
	}
	return s.max
}

// histogram merges the buckets into decades of time for a plot: the k-th element counts values
// below limits[k], the last element all others.
func (s *sketch) histogram(limits []float64) []int {
	out := make([]int, len(limits)+1)
	for i, count := range s.buckets {
		if count == 0 {
			continue
		}
		middle := sketchLowest * math.Pow(sketchGamma, float64(i)) * 2 / (1 + sketchGamma)
		k := 0
		for k < len(limits) && middle >= limits[k] {
			k++
		}
		out[k] += int(count)
	}
	return out
}
