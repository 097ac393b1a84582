package chaos

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Follower reads the timeline from cursor to cursor while it is written, as a
// live page does. It must miss nothing and see nothing twice (R8).
type Follower struct {
	pool *pgxpool.Pool
	stop context.CancelFunc
	done sync.WaitGroup

	cursor string
	seen   map[int64]int
}

// Follow starts to read.
func Follow(ctx context.Context, pool *pgxpool.Pool) *Follower {
	f := &Follower{pool: pool, cursor: "0.0", seen: map[int64]int{}}
	ctx, f.stop = context.WithCancel(ctx)
	f.done.Go(func() {
		for pause(ctx, 10*time.Millisecond) {
			_, _ = f.read(ctx) // it continues from the same cursor
		}
	})
	return f
}

// read reads the next rows; the last complete one is the new cursor.
func (f *Follower) read(ctx context.Context) (int, error) {
	rows, err := f.pool.Query(ctx, `select distinct cursor, seq, split_part(cursor, '.', 1)::bigint from weir.events_after($1, 200) order by 3, 2`, f.cursor)
	if err != nil {
		return 0, err
	}
	type line struct {
		cursor string
		seq    int64
	}
	lines, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l line, err error) {
		var xid int64
		return l, row.Scan(&l.cursor, &l.seq, &xid)
	})
	if err != nil {
		return 0, err
	}
	for _, l := range lines {
		f.seen[l.seq]++
		f.cursor = l.cursor
	}
	return len(lines), nil
}

// Findings stops, reads to the end and compares with the whole timeline.
func (f *Follower) Findings(ctx context.Context) ([]Finding, error) {
	f.stop()
	f.done.Wait()
	for {
		if n, err := f.read(ctx); err != nil || n == 0 {
			if err != nil {
				return nil, fmt.Errorf("follow the timeline: %w", err)
			}
			break
		}
	}
	rows, err := f.pool.Query(ctx, `select seq from weir.events where xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint`)
	if err != nil {
		return nil, err
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, err
	}
	var found []Finding
	for _, seq := range all {
		if n := f.seen[seq]; n != 1 {
			found = append(found, Finding{ruleCursor, "", fmt.Sprintf("a reader of the timeline saw event %d %d times", seq, n)})
		}
	}
	return found, nil
}
