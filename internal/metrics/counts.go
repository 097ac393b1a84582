package metrics

import (
	"context"
	"time"

	"github.com/weirhq/weir/internal/engine/view"
)

const (
	// lookBack is how far back a reading of the minutes goes at least, because a minute
	// is counted after it is over, and may be counted late.
	lookBack = 15 * time.Minute
	// lookMost bounds it, for a server that was not scraped for a long time.
	lookMost = 24 * time.Hour
	// lately is the age up to which a sampled minute counts as current.
	lately = 5 * time.Minute
)

// counts turns minutes, which are deleted after a while, into counters that only grow.
// They begin at zero with the process.
type counts struct {
	source Source
	// seen is the content of the minutes at the last reading.
	seen map[int64]view.Rate
	last time.Time
	sum  view.Rate
	// newest is the last minute with samples of waiting and running.
	newest view.Rate
}

// read is called by one reading at a time.
func (c *counts) read(ctx context.Context) (sums, error) {
	now := time.Now()
	since := lookBack
	if !c.last.IsZero() {
		since = min(now.Sub(c.last)+lookBack, lookMost)
	}
	rates, err := c.source.Rates(ctx, since)
	if err != nil {
		return sums{total: c.sum}, err
	}
	c.add(rates, now)
	newest := c.newest
	if now.Sub(newest.At) > lately {
		newest = view.Rate{}
	}
	return sums{c.sum, newest}, nil
}

// sums are the values of the counters, and the samples of the newest minute.
type sums struct{ total, newest view.Rate }

// add counts what the minutes have grown by. What was there at first is not counted.
func (c *counts) add(rates []view.Rate, now time.Time) {
	first := c.seen == nil
	seen := make(map[int64]view.Rate, len(rates))
	for _, r := range rates {
		key := r.At.Unix()
		seen[key] = r
		if r.WaitP95 != nil || r.RunP95 != nil {
			if !r.At.Before(c.newest.At) {
				c.newest = r
			}
		}
		if first {
			continue
		}
		was := c.seen[key]
		c.sum.Submitted += max(0, r.Submitted-was.Submitted)
		c.sum.Started += max(0, r.Started-was.Started)
		c.sum.Done += max(0, r.Done-was.Done)
		c.sum.Failed += max(0, r.Failed-was.Failed)
		c.sum.Canceled += max(0, r.Canceled-was.Canceled)
		c.sum.Expired += max(0, r.Expired-was.Expired)
		c.sum.Refused += max(0, r.Refused-was.Refused)
	}
	c.seen, c.last = seen, now
}
