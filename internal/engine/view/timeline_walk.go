package view

import (
	"context"
	"fmt"
)

// eventWalk is a way through the timeline, newest first, as [walk] is one through
// a table with ids.
type eventWalk struct {
	// bySeq says that the index has the order of seq alone, else of (xid, seq).
	bySeq bool
	// sorted says that the rows of keys are so few that they are sorted.
	sorted bool
	// keys are what the index answers, rest is what each row is held against.
	keys, rest []condition
}

func (w *eventWalk) hold(format string, value any) { w.rest = append(w.rest, condition{format, value}) }

// eventWalk chooses the index.
func (s *Store) eventWalk(ctx context.Context, f TimelineFilter) (*eventWalk, error) {
	w := &eventWalk{}
	switch {
	case !f.Job.IsZero():
		w.bySeq, w.keys = true, []condition{{"e.job = %s", f.Job}}
	case f.Subject != "" && f.Kind != "" && f.Kind != "task":
		w.bySeq, w.keys = true, []condition{{"e.kind = %s", f.Kind}, {"e.subject = %s", f.Subject}}
		f.Kind, f.Subject = "", ""
	case f.Level != "" && f.Level != "info":
		w.keys = []condition{{"e.level = %s", f.Level}}
		f.Level = ""
	case f.Kind != "" && f.Kind != "task":
		seqs, err := list(ctx, s, readTimeline, fmt.Sprintf(`select e.seq from weir.events e where e.kind = $1 limit %d`, s.few+1), []any{f.Kind}, func(n *int64) []any { return []any{n} })
		if err != nil {
			return nil, err
		}
		if len(seqs) <= s.few {
			w.sorted, w.keys = true, []condition{{"e.kind = %s", f.Kind}}
			f.Kind = ""
		}
	}
	switch f.Kind {
	case "":
	case "task":
		w.hold("e.kind is null", nil)
	default:
		w.hold("e.kind = %s", f.Kind)
	}
	if f.Subject != "" {
		w.hold("e.subject = %s", f.Subject)
	}
	switch f.Level {
	case "":
	case "info":
		w.hold("e.level is null", nil)
	default:
		w.hold("e.level = %s", f.Level)
	}
	if f.Type != "" {
		w.hold("e.type = %s", f.Type)
	}
	if len(f.NotKinds) > 0 {
		w.hold("coalesce(e.kind, 'task') <> all (%s)", f.NotKinds)
	}
	return w, nil
}

// line is one line of a page, with its place.
type line struct {
	Event
	place
}

// read walks on from a place. A row that tells of a batch gives one line for each
// task, the last one first; no more of them are read than the page needs.
func (w *eventWalk) read(ctx context.Context, s *Store, from place, limit int) ([]Event, string, error) {
	var q query
	inner, order, most := w.rows(&q, from, limit+1, s.look)
	keys := len(q.args)
	q.conditions = nil
	q.add(w.rest...)
	rows := fmt.Sprintf(`(select * from (%s limit %d) e%s order by %s limit %d)`, inner, most, q.text(), order, limit+1)
	lines, err := inOrder(ctx, s, readTimeline, fmt.Sprintf(`select e.xid, e.seq, u.n + b.lo - 1, e.xid || '.' || e.seq, e.at, e.type, coalesce(e.kind, 'task'), coalesce(e.subject, u.task::text), e.job, u.task,
		coalesce(e.attempt, 0)::int, w.name, e.source, coalesce(e.level, 'info'), e.message, e.data
		from %s e cross join lateral (select case when (e.xid, e.seq) = (%s, %s) then %s else coalesce(cardinality(e.tasks), 1) end as hi) h
			cross join lateral (select greatest(h.hi - %d, 1) as lo) b cross join lateral unnest((coalesce(e.tasks, array[e.task]))[b.lo:h.hi]) with ordinality u (task, n)
			left join weir.workers w on w.id = e.worker
		order by %s, u.n desc limit %d`, rows, q.arg(from.xid), q.arg(from.seq), q.arg(from.line-1), limit, order, limit+1), q.args, func(l *line) []any {
		e := &l.Event
		return []any{
			&l.xid, &l.seq, &l.line, (*maybe)(&e.Cursor), (*moment)(&e.At), &e.Type, &e.Kind, (*maybe)(&e.Subject), &e.Job, &e.Task, &e.Attempt, (*maybe)(&e.Worker),
			(*maybe)(&e.Source), &e.Level, (*maybe)(&e.Message), (*[]byte)(&e.Data),
		}
	})
	if err != nil {
		return nil, "", err
	}
	next := ""
	switch {
	case len(lines) > limit:
		lines = lines[:limit]
		next = lines[limit-1].place.String()
	case len(w.rest) > 0:
		last, err := inOrder(ctx, s, readTimeline, fmt.Sprintf(`select e.xid, e.seq, 1 from (%s) e offset %d limit 1`, inner, most-1), q.args[:keys], func(p *place) []any {
			return []any{&p.xid, &p.seq, &p.line}
		})
		if err != nil {
			return nil, "", err
		}
		if len(last) > 0 {
			next = last[0].String()
		}
	}
	events := make([]Event, len(lines))
	for i, l := range lines {
		events[i] = l.Event
		events[i].Seq = l.seq
	}
	return events, next, nil
}

// rows is the query of the rows to walk, their order, and how many.
func (w *eventWalk) rows(q *query, from place, limit, look int) (sql, order string, most int) {
	order, most = "e.xid desc, e.seq desc", limit
	if w.bySeq {
		order = "e.seq desc"
	}
	if len(w.rest) > 0 {
		most = look
	}
	q.add(w.keys...)
	table := "weir.events e"
	if w.sorted {
		table = `(select * from weir.events e` + q.text() + ` offset 0) e`
		q.conditions = nil
	}
	if from.line > 0 {
		than := "<"
		if from.line > 1 { // there are more lines of that row
			than = "<="
		}
		if w.bySeq {
			q.where("e.seq "+than+" %s", from.seq)
		} else {
			q.add(condition{format: fmt.Sprintf("(e.xid, e.seq) %s (%s, %s)", than, q.arg(from.xid), q.arg(from.seq))})
		}
	}
	return fmt.Sprintf(`select * from %s%s order by %s`, table, q.text(), order), order, most
}

const readTimeline = "read the timeline"
