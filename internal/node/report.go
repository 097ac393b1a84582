package node

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blame"
	"github.com/weirhq/weir/internal/pgtext"
)

// ours leaves out the leases of other nodes, which are refused. $1 to $3 are the leases,
// $4 is the node of each; the statement continues with the rest (g).
const ours = `with s as materialized (select * from unnest($1::uuid[], $2::int[], $3::uuid[], $4::text[]) with ordinality s (task, attempt, token, node, n)),
	f as materialized (select f.* from (select s.node, array_agg(s.task) as tasks, array_agg(s.attempt) as attempts, array_agg(s.token) as tokens from s group by s.node) o,
		weir.foreign_leases(o.node, o.tasks, o.attempts, o.tokens) f),
	g as materialized (select s.* from s where not exists (select from f where f.task = s.task and f.attempt = s.attempt)),
	a as materialized (select coalesce(array_agg(task order by n), '{}') as tasks, coalesce(array_agg(attempt order by n), '{}') as attempts,
		coalesce(array_agg(token order by n), '{}') as tokens, coalesce(array_agg(n order by n), '{}') as rows from g)
	select f.task, f.attempt, 'lease_lost' from f union all `

// Start reports that work has started, and extends its leases to the given length from now
// (zero: as they are).
func (d *Desk) Start(ctx context.Context, leases []Lease, length time.Duration) ([]Refusal, error) {
	sql, args := startSQL(d.worker, length)
	return d.ask(ctx, "start", leases, sql, args...)
}

// startSQL returns the statement that starts attempts, and its arguments after the leases.
func startSQL(worker string, length time.Duration) (sql string, args []any) {
	const start = ours + `select x.task, x.attempt, x.refusal from a, weir.start_many(a.tasks, a.attempts, a.tokens) x`
	if length <= 0 {
		return start, nil
	}
	// A lost lease is refused by both.
	return start + `
		union select x.task, x.attempt, x.refusal from a, weir.renew($5, a.tasks, a.attempts, a.tokens, $6) x`, []any{worker, length}
}

// Renew extends leases to the given length from now (zero: 30 s), and returns which are
// lost and which should be canceled.
func (d *Desk) Renew(ctx context.Context, leases []Lease, length time.Duration) ([]Refusal, error) {
	if length <= 0 {
		length = leaseLength
	}
	return d.ask(ctx, "renew", leases, ours+`select x.task, x.attempt, x.refusal from a, weir.renew($5, a.tasks, a.attempts, a.tokens, $6) x`, d.worker, length)
}

// Record adds to the timelines of leased tasks. A note that the database refuses is left
// out, and the error says why; the others are written.
func (d *Desk) Record(ctx context.Context, notes []Note) ([]Refusal, error) {
	if len(notes) == 0 {
		return nil, nil
	}
	refused, first := d.record(ctx, notes)
	if first == nil {
		return refused, nil
	}
	if len(notes) == 1 || blame.Of(first) != blame.Value {
		return nil, wrap("record", first)
	}
	refused, first = nil, nil
	for _, n := range notes { // nothing was written
		one, err := d.Record(ctx, []Note{n})
		refused = append(refused, one...)
		if err != nil && first == nil {
			first = err
		}
	}
	return refused, first
}

// record adds notes with one statement.
func (d *Desk) record(ctx context.Context, notes []Note) ([]Refusal, error) {
	sql, args := d.notes(notes)
	rows, err := d.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return refusals(rows)
}

// notes returns the statement that adds notes.
func (d *Desk) notes(notes []Note) (sql string, args []any) {
	leases := make([]Lease, len(notes))
	types, messages, levels := make([]string, len(notes)), make([]string, len(notes)), make([]string, len(notes))
	data := make([][]byte, len(notes))
	for i, n := range notes {
		leases[i], types[i], messages[i], data[i], levels[i] = n.Lease, n.Type, n.Message, n.Data, n.Level
	}
	tasks, attempts, tokens := columns(leases)
	return `select x.task, x.attempt, x.refusal from weir.record_many($1, $2, $3, $4, $5,
		array(select nullif(m, '') from unnest($6::text[]) with ordinality u (m, n) order by n), $7::jsonb[],
		array(select nullif(l, '') from unnest($8::text[]) with ordinality u (l, n) order by n)) x`,
		[]any{d.node, tasks, attempts, tokens, types, messages, data, levels}
}

// End reports how attempts ended. An attempt that was not refused, or was refused as
// Repeated, has ended.
func (d *Desk) End(ctx context.Context, outcomes []Outcome) ([]Refusal, error) {
	var done, failed, broken []Outcome
	returned := map[giving][]Lease{}
	if slices.ContainsFunc(outcomes, func(o Outcome) bool { return !o.Quiet }) {
		// An end may open work for other workers, in this process and elsewhere.
		defer d.hints.say()
	}
	var refused []Refusal
	add := func(more []Refusal, err error) error {
		refused = append(refused, more...)
		return err
	}
	for _, o := range outcomes {
		if o.Unclean != "" {
			if err := d.unclean(ctx, o); err != nil {
				return refused, err
			}
		}
		switch o.Verdict {
		case Done:
			done = append(done, o)
		case Returned:
			g := giving{o.Error, o.Fault, o.Begun}
			returned[g] = append(returned[g], o.Lease)
		case Canceled:
			if err := add(d.cancel(ctx, o)); err != nil {
				return refused, err
			}
		default:
			if o.Infra || o.Harmless {
				broken = append(broken, o)
			} else {
				failed = append(failed, o)
			}
		}
	}
	if err := add(d.ends.finish(ctx, d, done)); err != nil {
		return refused, err
	}
	if err := add(d.fail(ctx, own(d.node, len(failed)), failed)); err != nil {
		return refused, err
	}
	if err := add(d.failDevices(ctx, broken)); err != nil {
		return refused, err
	}
	for why, leases := range returned {
		sql := ours + `select x.task, x.attempt, x.refusal from a, weir.give_back_many(a.tasks, a.attempts, a.tokens, note => nullif($5, ''), hint => false,
			fault => nullif($6, ''), begun => $7) x`
		if err := add(d.ask(ctx, "hand back", leases, sql, why.note, why.fault, why.begun)); err != nil {
			return refused, err
		}
	}
	return refused, nil
}

// giving is why leases are handed back.
type giving struct {
	note, fault string
	begun       bool
}

// finish marks tasks as done, each under its node's name.
func (d *Desk) finish(ctx context.Context, nodes []string, batch []Outcome) ([]Refusal, error) {
	if len(batch) == 0 {
		return nil, nil
	}
	results := make([][]byte, len(batch))
	for i, o := range batch {
		results[i] = o.Result
	}
	refused, err := d.askFor(ctx, "finish", nodes, held(batch), ours+`select x.task, x.attempt, x.refusal from a,
		weir.finish_many(a.tasks, a.attempts, a.tokens, array(select ($5::jsonb[])[i] from unnest(a.rows) with ordinality r (i, n) order by n), hint => false) x`, results)
	switch {
	case err == nil || !blame.OneRow(err):
		return refused, err
	case len(batch) > 1:
		// One result that the database refuses must not block the others.
		half := len(batch) / 2
		one, first := d.finish(ctx, nodes[:half], batch[:half])
		two, err := d.finish(ctx, nodes[half:], batch[half:])
		return append(one, two...), cmp.Or(first, err)
	case blame.Of(err) != blame.Value:
		return refused, err // the work is not at fault, and its node reports it again
	}
	bad := batch[0]
	bad.Verdict, bad.Result, bad.Error, bad.Final = Failed, nil, "the result was refused: "+err.Error(), true
	return d.fail(ctx, nodes, []Outcome{bad})
}

// fail marks attempts as failed, each under its node's name.
func (d *Desk) fail(ctx context.Context, nodes []string, batch []Outcome) ([]Refusal, error) {
	if len(batch) == 0 {
		return nil, nil
	}
	causes, final, after := make([]string, len(batch)), make([]bool, len(batch)), make([]*time.Duration, len(batch))
	reasons := make([]string, len(batch))
	for i, o := range batch {
		causes[i], final[i], reasons[i] = pgtext.Text(o.Error), o.Final, o.Reason
		if o.RetryIn > 0 {
			after[i] = &o.RetryIn
		}
	}
	return d.askFor(ctx, "fail", nodes, held(batch), ours+`select x.task, x.attempt, x.refusal from a, weir.fail_many(a.tasks, a.attempts, a.tokens,
		array(select ($5::text[])[i] from unnest(a.rows) with ordinality r (i, n) order by n),
		array(select ($6::boolean[])[i] from unnest(a.rows) with ordinality r (i, n) order by n),
		array(select clock_timestamp() + ($7::interval[])[i] from unnest(a.rows) with ordinality r (i, n) order by n), hint => false,
		reasons => array(select nullif(($8::text[])[i], '') from unnest(a.rows) with ordinality r (i, n) order by n)) x`,
		causes, final, after, reasons)
}

// cancel confirms a cancellation. If no cancellation was requested, the outcome is an
// ordinary failure.
func (d *Desk) cancel(ctx context.Context, o Outcome) ([]Refusal, error) {
	refused, err := d.ask(ctx, "confirm cancel", []Lease{o.Lease}, ours+`select g.task, g.attempt, weir.confirm_cancel(g.task, g.attempt, g.token, nullif($5, ''), hint => false) from g`, o.Error)
	if errors.Is(err, weir.ErrConflict) {
		o.Verdict = Failed
		return d.fail(ctx, []string{d.node}, []Outcome{o})
	}
	return refused, err
}

// ask executes one statement about leases of its node and reads the refusals.
func (d *Desk) ask(ctx context.Context, op string, leases []Lease, sql string, args ...any) ([]Refusal, error) {
	return d.askFor(ctx, op, own(d.node, len(leases)), leases, sql, args...)
}

// askFor does the same for leases of several nodes.
func (d *Desk) askFor(ctx context.Context, op string, nodes []string, leases []Lease, sql string, args ...any) ([]Refusal, error) {
	if len(leases) == 0 {
		return nil, nil
	}
	tasks, attempts, tokens := columns(leases)
	rows, err := d.pool.Query(ctx, sql, append([]any{tasks, attempts, tokens, nodes}, args...)...)
	if err != nil {
		return nil, wrap(op, err)
	}
	refused, err := refusals(rows)
	return refused, wrap(op, err)
}

// refusals reads the answer about leases. What was accepted is left out.
func refusals(rows pgx.Rows) (refused []Refusal, err error) {
	var r Refusal
	_, err = pgx.ForEachRow(rows, []any{&r.Task, &r.Attempt, &r.Refusal}, func() error {
		if r.Refusal != "ok" {
			refused = append(refused, r)
		}
		return nil
	})
	return refused, err
}

func held(batch []Outcome) []Lease {
	leases := make([]Lease, len(batch))
	for i, o := range batch {
		leases[i] = o.Lease
	}
	return leases
}
