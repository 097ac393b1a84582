package timeline

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgtype/zeronull"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// rowsPerRead is how many rows of the timeline one statement examines.
	rowsPerRead = 1000
	// linesPerRead is about how many lines it returns, because a row may describe a batch
	// of any size.
	linesPerRead = 2000
	// readTimeout is the timeout of one read.
	readTimeout = 30 * time.Second
)

// found is the result of one read.
type found struct {
	events []*Event
	// end is how far the read got: no selected event lies between the last event and it.
	end place
	// full means that more can be read at once.
	full bool
	// busy means that nothing is new but tasks run, so that something will happen soon.
	busy bool
}

// read reads on from a place. The horizon and the rows are of one snapshot: rows below
// the horizon do not change any more. A place ahead of it is refused (problem.Conflict).
func read(ctx context.Context, pool *pgxpool.Pool, after place, filter *Filter) (found, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	sql, args := statement(after, filter)
	rows, err := pool.Query(ctx, sql, args...)
	if err != nil {
		return found{}, err
	}
	defer rows.Close()
	var f found
	var r row
	var since place
	var horizon int64
	var looked, matched, returned int
	last := place{line: wholeRow} // of the rows examined
	for rows.Next() {
		r.tasks = r.tasks[:0]
		err := rows.Scan(&horizon, &since.xid, &since.seq, &f.busy, &looked, &matched, &last.xid, &last.seq, (*zeronull.Int8)(&r.xid), (*zeronull.Int8)(&r.seq), &r.lines, &r.first, &r.tasks,
			(*zeronull.Timestamptz)(&r.at), (*zeronull.Text)(&r.kind), (*zeronull.Text)(&r.typ), (*zeronull.Text)(&r.subject), &r.job, &r.attempt,
			(*zeronull.Text)(&r.worker), (*zeronull.Text)(&r.source), (*zeronull.Text)(&r.level), (*zeronull.Text)(&r.message), &r.data)
		if err != nil {
			return found{}, err
		}
		if r.seq > 0 { // else nothing is new: the row only carries the horizon
			returned++
			f.events = r.expand(f.events, after, filter)
		}
	}
	if err := rows.Err(); err != nil {
		return found{}, err
	}
	if after.xid >= horizon || after.foreign(since) {
		return found{}, ahead(after)
	}
	end := place{r.xid, r.seq, wholeRow}
	if filter.Task.IsZero() { // else the missing lines are filtered out
		end = r.end()
	}
	switch {
	case returned < matched, returned > 0 && end.line != wholeRow:
		f.end, f.full = end, true
	case looked == rowsPerRead:
		f.end, f.full = last, true
	default:
		f.end = tailOf(horizon)
	}
	return f, nil
}

// statement returns SQL that reads rowsPerRead rows, and filters afterwards. In this
// order its time is bounded, also for a filter that matches nothing; only a job's rows
// are looked up directly, because there is an index.
func statement(after place, filter *Filter) (sql string, args []any) {
	arg := func(value any, kind string) string {
		args = append(args, value)
		return fmt.Sprint("$", len(args), "::", kind)
	}
	var job, wanted string
	first := "1"
	if after.line != wholeRow {
		after.seq-- // the row again, without the lines that were read
		if filter.Task.IsZero() {
			first = fmt.Sprintf("case when s.xid = %s and s.seq = %s then %s else 1 end", arg(after.xid, "bigint"), arg(after.seq+1, "bigint"), arg(after.line+1, "int"))
		}
	}
	given := fmt.Sprintf("(coalesce(s.tasks, array[s.task]))[%s:%[1]s + %d]", first, linesPerRead-1)
	if !filter.Job.IsZero() {
		job = " and e.job = " + arg(filter.Job, "uuid")
	}
	if !filter.Task.IsZero() {
		task := arg(filter.Task, "uuid")
		wanted += fmt.Sprintf(" and (s.task = %s or %[1]s = any (s.tasks))", task)
		first, given = fmt.Sprintf("coalesce(array_position(s.tasks, %s), 1)", task), "array["+task+"]"
	}
	if len(filter.Kinds) > 0 {
		wanted += " and coalesce(s.kind, 'task') = any (" + arg(filter.Kinds, "text[]") + ")"
	}
	if len(filter.Types) > 0 {
		wanted += " and s.type = any (" + arg(filter.Types, "text[]") + ")"
	}
	return fmt.Sprintf(`with s as materialized (
			select e.xid, e.seq, e.at, e.type, e.kind, e.subject, e.job, e.task, e.tasks, e.attempt, e.worker, e.source, e.level, e.message, e.data
			from weir.events e
			where (e.xid, e.seq) > (%s, %s) and e.xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint%s
			order by e.xid, e.seq limit %d
		), l as (
			select s.*, coalesce(cardinality(s.tasks), 1) as lines, %s as first, %s as given from s where true%s
		), b as (
			select l.*, sum(cardinality(l.given)) over (order by l.xid, l.seq) - cardinality(l.given) as before, count(*) over () as matched from l
		)
		select m.horizon, c.since_xid, c.since_seq, m.busy, m.looked, coalesce(b.matched, 0), coalesce(z.xid, 0), coalesce(z.seq, 0), b.xid, b.seq, coalesce(b.lines, 0), coalesce(b.first, 0),
			b.given, b.at, coalesce(b.kind, 'task'), b.type, b.subject, b.job, coalesce(b.attempt, 0)::int, w.name, b.source, coalesce(b.level, 'info'), b.message, b.data
		from (select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as horizon, not exists (select from s) and exists (select from weir.running) as busy, (select count(*) from s) as looked) m
		cross join weir.cluster c
		left join (select s.xid, s.seq from s order by s.xid desc, s.seq desc limit 1) z on true
		left join (b left join weir.workers w on w.id = b.worker) on b.before < %d
		order by b.xid, b.seq`,
		arg(after.xid, "bigint"), arg(after.seq, "bigint"), job, rowsPerRead, first, given, wanted, linesPerRead), args
}
