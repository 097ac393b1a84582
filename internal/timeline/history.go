package timeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
)

// recent returns a place with about that many lines behind it, or the end if the last row
// alone has more.
func recent(ctx context.Context, pool *pgxpool.Pool, lines int) (place, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	start := place{line: wholeRow}
	err := pool.QueryRow(ctx, `select e.xid, e.seq - 1 from (
			select e.xid, e.seq, sum(coalesce(cardinality(e.tasks), 1)) over (order by e.xid desc, e.seq desc) as lines
			from (select e.xid, e.seq, e.tasks from weir.events e where e.xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
				order by e.xid desc, e.seq desc limit $1) e) e
		where e.lines <= $1 order by e.xid, e.seq limit 1`, lines).Scan(&start.xid, &start.seq)
	if !errors.Is(err, pgx.ErrNoRows) {
		return start, err
	}
	var horizon int64
	err = pool.QueryRow(ctx, `select pg_snapshot_xmin(pg_current_snapshot())::text::bigint`).Scan(&horizon)
	return tailOf(horizon), err
}

// check refuses a place from which no reader can continue without a gap.
//
// Dropped history is recognized by the oldest partition: it begins after the schema was
// made. Then every place before the oldest remaining event may have had events behind it.
func check(ctx context.Context, pool *pgxpool.Pool, at place) error {
	var horizon int64
	var dropped bool
	oldest := place{line: wholeRow}
	var since place
	err := pool.QueryRow(ctx, `select pg_snapshot_xmin(pg_current_snapshot())::text::bigint, c.since_xid, c.since_seq, coalesce(o.xid, 0), coalesce(o.seq, 0),
			coalesce((select min(p.lo) from weir._partitions() p where p.parent = 'events') > (select min(v.applied_at) from weir.schema_version v), false)
		from weir.cluster c left join (select e.xid, e.seq from weir.events e order by e.xid, e.seq limit 1) o on true`).
		Scan(&horizon, &since.xid, &since.seq, &oldest.xid, &oldest.seq, &dropped)
	switch {
	case err != nil:
		return fmt.Errorf("look for the place in the timeline: %w", err)
	case at.xid >= horizon || at.foreign(since):
		return ahead(at)
	case dropped && at != beginning && at.before(oldest):
		return problem.New(problem.Stale, "load what you show afresh, then follow from now (without after), or from 0.0 for everything that is kept",
			"the timeline goes back to %s: events behind %s are no longer kept", oldest.cursor(), at.cursor())
	}
	return nil
}

// ahead refuses a place that this cluster cannot have given: the database was loaded from
// a dump, or a standby took over that had not received it.
func ahead(at place) error {
	return problem.New(problem.Conflict, "load what you show afresh, then follow from now (without after), or from 0.0 for everything that is kept",
		"%s is ahead of this database, or of another one: it was restored, or a standby took over", at.cursor())
}

// origin returns the place at which the database came into this cluster: see
// [place.foreign].
func origin(ctx context.Context, pool *pgxpool.Pool) (since place, err error) {
	err = pool.QueryRow(ctx, `select c.since_xid, c.since_seq from weir.cluster c`).Scan(&since.xid, &since.seq)
	return since, err
}

// Newest returns the cursor of the last event that can be read, and whether tasks run, so
// that another event will come soon.
func Newest(ctx context.Context, pool *pgxpool.Pool) (newest weir.Cursor, busy bool, err error) {
	at := beginning
	err = pool.QueryRow(ctx, `select coalesce(e.xid, 0), coalesce(e.seq, 0), exists (select from weir.running) from (select 1) one left join (
			select e.xid, e.seq from weir.events e where e.xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
			order by e.xid desc, e.seq desc limit 1) e on true`).Scan(&at.xid, &at.seq, &busy)
	if err != nil {
		return "", false, fmt.Errorf("read the end of the timeline: %w", err)
	}
	return at.cursor(), busy, nil
}
