package streams

import (
	"math"
	"sync/atomic"
	"time"
)

// histogram counts latencies per millisecond, up to a minute.
type histogram struct {
	counts [60_001]atomic.Int64
	all    atomic.Int64
}

func (h *histogram) add(d time.Duration) {
	i := min(max(int((d+time.Millisecond-1)/time.Millisecond), 0), len(h.counts)-1)
	h.counts[i].Add(1)
	h.all.Add(1)
}

// percentile returns the number of milliseconds that p percent of the samples do not
// exceed, or NaN without samples.
func (h *histogram) percentile(p float64) float64 {
	rank := int64(math.Ceil(p / 100 * float64(h.all.Load())))
	for i, seen := 0, int64(0); i < len(h.counts); i++ {
		if seen += h.counts[i].Load(); seen >= rank && seen > 0 {
			return float64(i)
		}
	}
	return math.NaN()
}
