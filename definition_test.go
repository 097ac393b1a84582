package weir_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir"
)

// Of many who change what they have all seen, one gets through; the others are
// told, and the timeline says who it was.
func TestSeenIsChangedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	task := weir.Task{Service: "a"}
	for name, c := range map[string]struct {
		first error
		seen  string
		set   func(n int, seen time.Time) error
	}{
		"pool": {
			w.client.SetPool(ctx, weir.Pool{Name: "x", Size: weir.Size(1)}), `select resized_at from weir.pools`,
			func(n int, seen time.Time) error {
				return w.client.SetPool(ctx, weir.Pool{Name: "x", Size: weir.Size(n), By: "ada", Seen: seen})
			},
		},
		"schedule": {
			w.client.SetSchedule(ctx, weir.Schedule{Name: "x", Spec: "@every 1h", Task: task}), `select changed_at from weir.schedules`,
			func(n int, seen time.Time) error {
				return w.client.SetSchedule(ctx, weir.Schedule{Name: "x", Spec: "@every " + (time.Duration(n) * time.Minute).String(), Task: task, By: "ada", Seen: seen})
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var seen time.Time
			if c.first != nil {
				t.Fatal(c.first)
			}
			if err := w.Pool.QueryRow(ctx, c.seen).Scan(&seen); err != nil {
				t.Fatal(err)
			}
			var group sync.WaitGroup
			var won atomic.Int32
			for i := range 8 {
				group.Go(func() {
					switch err := c.set(i+2, seen); {
					case err == nil:
						won.Add(1)
					case !errors.Is(err, weir.ErrConflict):
						t.Error(err)
					}
				})
			}
			group.Wait()
			if won.Load() != 1 {
				t.Errorf("%d of 8 changed what they had seen", won.Load())
			}
			if got := w.count(t, `select count(*) from weir.events where type = 'set' and kind = '`+name+`' and source = 'ada'`); got != 1 {
				t.Errorf("the timeline has %d changes by ada", got)
			}
		})
	}
}
