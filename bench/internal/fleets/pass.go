package fleets

import (
	"context"
	"fmt"
	"time"

	"github.com/weirhq/weir/bench/internal/meter"
)

// Passed is the cost of calls when nothing is new.
type Passed struct {
	// Took are milliseconds of each call.
	Took    []float64
	Written int64
}

// Pass has the leader pass over the fleet n times, with all slots at work and nothing
// due.
func (l *Lab) Pass(ctx context.Context, n int) (Passed, error) {
	return l.idle(ctx, n, func(int) (string, []any) { return `select weir.fleet_tend()`, nil })
}

// Reports has PCs repeat their last report, one after the other.
func (l *Lab) Reports(ctx context.Context) (Passed, error) {
	return l.idle(ctx, len(l.pcs), func(i int) (string, []any) {
		return `select from weir.fleet_report($1, $2, slots => $3)`, []any{l.pcs[i].name, l.pcs[i].report, l.size.Slots}
	})
}

// Polls has PCs without a free slot ask for work.
func (l *Lab) Polls(ctx context.Context) (Passed, error) {
	return l.idle(ctx, len(l.pcs), func(i int) (string, []any) {
		return `select from weir.fleet_claim($1, $1)`, []any{l.pcs[i].name}
	})
}

func (l *Lab) idle(ctx context.Context, n int, call func(i int) (string, []any)) (p Passed, err error) {
	held, err := l.Pool.Acquire(ctx)
	if err != nil {
		return p, err
	}
	defer held.Release()
	conn := held.Conn()
	// A PC that was not heard from for a while would be written as heard: all are marked
	// as heard here.
	if _, err := conn.Exec(ctx, `update weir.nodes set seen_at = clock_timestamp() + interval '1 min'; update weir.pcs set reported_at = clock_timestamp() + interval '1 min'`); err != nil {
		return p, err
	}
	before, err := meter.RowsWritten(ctx, conn)
	if err != nil {
		return p, err
	}
	for i := range n {
		sql, args := call(i)
		began := time.Now()
		if _, err := conn.Exec(ctx, sql, args...); err != nil {
			return p, fmt.Errorf("%s: %w", sql, err)
		}
		p.Took = append(p.Took, ms(time.Since(began)))
	}
	after, err := meter.RowsWritten(ctx, conn)
	p.Written = after - before
	return p, err
}
