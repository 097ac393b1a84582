package workspace

import (
	"context"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
)

const (
	idleEvery   = 15 * time.Second
	activeEvery = time.Second
	// activeFor is how long it looks often after a wake, or after something was under way.
	activeFor = 30 * time.Second
	// gap is the least time between two looks.
	gap      = 100 * time.Millisecond
	ttlEvery = 5 * time.Second
	// lookMost is how long a tick may take: all listings, one after the other.
	lookMost = time.Minute
)

// Loops are what the leader does for workspaces during one term.
func Loops(config Config, term Term) []loop.Loop {
	c := NewController(config, term)
	if config.Wake != nil {
		term.Go(func(ctx context.Context) { c.listen(ctx, config.Wake) })
	}
	var active time.Time
	return []loop.Loop{
		{
			Name: "workspaces", Every: idleEvery, Wake: c.wake, Gap: gap, Timeout: lookMost,
			Tick: func(ctx context.Context, now time.Time) (bool, error) {
				woken := c.woken.Swap(false)
				more, err := c.Tick(ctx)
				if more || woken {
					active = now
				}
				return false, err
			},
			Next: func() (at time.Time) {
				if now := time.Now(); now.Sub(active) < activeFor {
					at = now.Add(activeEvery)
				}
				return at
			},
		},
		{Name: "workspace ttl", Every: ttlEvery, Tick: c.expire},
		{Name: "workspace archives", Every: collectEvery, Tick: c.collect, Timeout: collectMost},
	}
}

// listen passes on what others say to the loop, which has one ear.
func (c *Controller) listen(ctx context.Context, wake <-chan struct{}) {
	for {
		select {
		case <-wake:
			c.woken.Store(true)
			c.poke()
		case <-ctx.Done():
			return
		}
	}
}

// expire wants less of what nobody uses. If nobody can tell what is in use, nothing is
// stopped for want of it.
func (c *Controller) expire(ctx context.Context, now time.Time) (bool, error) {
	alive, err := c.alive(ctx, now)
	if err != nil {
		c.config.Log.Warn("what is in use cannot be told; nothing is stopped for want of it", "error", err)
		alive = nil
	}
	n, err := c.leads.expire(ctx, alive)
	if n > 0 {
		c.poke()
	}
	return false, err
}

// alive are those in use right now. Not nil.
func (c *Controller) alive(ctx context.Context, now time.Time) ([]weir.ID, error) {
	if c.config.Flush != nil {
		if err := c.config.Flush(ctx, now); err != nil {
			return nil, err
		}
	}
	alive := []weir.ID{}
	if c.config.Alive != nil {
		found, err := c.config.Alive(ctx)
		if err != nil {
			return nil, err
		}
		alive = append(alive, found...)
	}
	return alive, nil
}
