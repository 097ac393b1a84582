package view

import (
	"context"
	"time"

	"github.com/weirhq/weir"
)

// Span is the time that one attempt of a job's task took.
type Span struct {
	Task    weir.ID   `json:"task"`
	Attempt int       `json:"attempt"`
	From    time.Time `json:"from"`
	// To is zero while it runs.
	To time.Time `json:"to,omitzero"`
	// Outcome is the event that ended it, as that of an [Attempt]; running while
	// none did.
	Outcome string `json:"outcome"`
}

// Spans lists the attempts of a job's tasks by when they began, at most 5,000.
// The last attempt of each task is in the table of its state, those before are
// in the events that ended them, of which the newest 50,000 are looked at.
func (s *Store) Spans(ctx context.Context, job weir.ID) ([]Span, error) {
	return list(ctx, s, "read the spans", `with q as materialized (select q.id from weir.tasks q where q.job = $1)
		select x.task, x.attempt::int, x.began, x.ended, x.outcome from (
			select q.id as task, f.attempt, f.started_at as began, f.at as ended, f.outcome::text as outcome
			from q, lateral (select * from weir.finished f where f.task = q.id and f.started_at is not null offset 0) f
			union all
			select q.id, r.attempt, r.claimed_at, null, 'running' from q, lateral (select * from weir.running r where r.task = q.id offset 0) r
			union all
			select e.task, e.attempt, (e.data ->> 'claimed_at')::timestamptz, coalesce((e.data ->> 'ended_at')::timestamptz, e.at), case when e.type <> 'retried' then e.type
				else (select b.type from weir.events b where b.task = e.task and b.seq < e.seq and b.type in ('failed', 'canceled', 'skipped') order by b.seq desc limit 1) end
			from (select * from weir.events e where e.job = $1 order by e.seq desc limit 50000) e
			where e.type in ('retrying', 'snoozed', 'expired', 'returned', 'retried') and e.data ? 'claimed_at'
		) x order by x.began, x.task limit 5000`, []any{job}, func(v *Span) []any {
		return []any{&v.Task, &v.Attempt, (*moment)(&v.From), (*moment)(&v.To), (*maybe)(&v.Outcome)}
	})
}
