//go:build unix

package chaos

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// crowd lets many transactions open the gates of the same keys at once. Each lasts a
// while, as when an application submits in its own transaction.
func crowd(r *run, spec func(i int) Spec, open string, keys []string) {
	r.workers(2, with(plain(), func(o *Orders) { o.Slots = 8; o.Poll = 5 * time.Millisecond }), nil)
	ctx, stop := context.WithCancel(r.ctx)
	defer stop()
	var openers sync.WaitGroup
	for range 4 {
		openers.Go(func() {
			for pause(ctx, time.Millisecond) {
				err := pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error {
					_, err := tx.Exec(ctx, open, keys)
					pause(ctx, 3*time.Millisecond)
					return err
				})
				if err != nil && ctx.Err() == nil {
					r.Errorf("open gates: %v", err)
					return
				}
			}
		})
	}
	r.submit(200, spec)
	r.within(30*time.Second, func() bool { _, err := r.drain(time.Millisecond); return err == nil })
	stop()
	openers.Wait()
	r.heal()
	r.clean()
}

// TestR7_CrowdAtAPool lets many openers compete for a pool of two places.
func TestR7_CrowdAtAPool(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	r.exec(`select weir.set_pool('narrow', 2)`)
	crowd(r, func(int) Spec { return Spec{"pool": "narrow"} }, `select weir.open_gates(pools => $1)`, []string{"narrow"})
}

// TestR7_CrowdAtALane lets many openers compete for three lanes, while each batch of
// tasks comes before the previous one.
func TestR7_CrowdAtALane(t *testing.T) {
	t.Parallel()
	crowd(newRun(t), func(i int) Spec {
		return Spec{"lane": fmt.Sprintf("l%d", i%3), "exclusive": i%4 > 0, "priority": i / 4}
	}, `select weir.open_gates(lanes => $1)`, []string{"l0", "l1", "l2"})
}
