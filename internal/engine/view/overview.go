package view

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir"
)

// Overview is what somebody wants to see first: what runs, what waits and at
// which gate, what failed.
type Overview struct {
	Counts Counts `json:"counts"`
	// FailedLately are at most ten of the newest tasks that failed, the last one to
	// fail first.
	FailedLately []Task `json:"failed_lately"`
	// Running are at most ten, the oldest lease first.
	Running []Task `json:"running"`
	// Waiting are the largest groups of pending tasks, at most twenty.
	Waiting []GateGroup `json:"waiting"`
	// Jobs are at most ten: those that live, then the newest of the others.
	Jobs []Job `json:"jobs"`
	// OldestAvailable is since when the task that waits longest for a worker may
	// start.
	OldestAvailable time.Time `json:"oldest_available,omitzero"`
	Nodes           Alive     `json:"nodes"`
	Workers         Alive     `json:"workers"`
}

// Counts are of tasks that have not ended.
type Counts struct {
	// Pending is by gate; a gate where nothing stands is there with zero.
	Pending   map[weir.Gate]Count `json:"pending"`
	Available Count               `json:"available"`
	Running   Count               `json:"running"`
}

// Count is a number that nobody counts beyond ten thousand.
type Count struct {
	N int `json:"n"`
	// More says that there are more than N.
	More bool `json:"more,omitempty"`
}

// GateGroup are pending tasks that wait for the same thing.
type GateGroup struct {
	Gate weir.Gate `json:"gate"`
	// Key is the pool or the lane, or empty.
	Key   string `json:"key,omitempty"`
	Count Count  `json:"count"`
	// Oldest is since when the first of them stands there.
	Oldest  time.Time `json:"oldest"`
	Example weir.ID   `json:"example"`
}

// Alive counts nodes or workers by whether they were seen lately. Workers that
// have stopped are neither.
type Alive struct {
	Live int `json:"live"`
	Dead int `json:"dead"`
}

const (
	// countMost is where counting stops.
	countMost = 10_000
	// groupMost is among how many pending tasks groups are made.
	groupMost = 100_000
	// shown is how many of each list there are.
	shown = 10
)

func counted(n int) Count { return Count{N: min(n, countMost), More: n > countMost} }

// Overview reads the state of the whole.
func (s *Store) Overview(ctx context.Context) (o Overview, err error) {
	const op = "read the overview"
	if err := s.count(ctx, op, &o); err != nil {
		return Overview{}, err
	}
	if o.Waiting, err = s.waiting(ctx, op); err != nil {
		return Overview{}, err
	}
	for _, part := range []struct {
		into *[]Task
		sql  string
	}{
		{&o.Running, `select r.task from weir.running r order by r.claimed_at limit $1`},
		// No index has the time of the end, so the newest are put in its order.
		{&o.FailedLately, `select f.task from (select f.task, f.at from weir.finished f where f.outcome = 'failed' order by f.task desc limit 200) f order by f.at desc limit $1`},
	} {
		ids, err := inOrder(ctx, s, op, part.sql, []any{shown}, idInto)
		if err != nil {
			return Overview{}, err
		}
		if *part.into, err = s.listed(ctx, op, ids); err != nil {
			return Overview{}, err
		}
	}
	o.Jobs, err = s.recentJobs(ctx, op)
	return o, err
}

// standing are the gates of weir.pending; atGates counts what stands at each, by its own
// index.
var (
	standing = slices.DeleteFunc(slices.Clone(Gates), func(g weir.Gate) bool { return g == weir.GateOrder || g == weir.GateExclusion })
	atGates  = func() string {
		counts := make([]string, len(standing))
		for i, gate := range standing {
			counts[i] = "(select count(*) from (select from weir.pending s where " + atGate(gate) + " limit $1) x)"
		}
		return strings.Join(counts, ", ")
	}()
)

// count fills in the numbers. Each count ends at its limit.
func (s *Store) count(ctx context.Context, op string, o *Overview) error {
	type row struct {
		gates              []int
		available, running int
		oldest             time.Time
		nodes, workers     Alive
	}
	rows, err := list(ctx, s, op, `select array[`+atGates+`], (select count(*) from (select from weir.available limit $1) x),
		(select count(*) from (select from weir.running limit $1) x),
		(select min(coalesce(a.opened_at, weir._id_time(a.task))) from (select v.class, v.floor from weir.classes c, lateral (values (c.id, c.floor), (-c.id, 0)) v (class, floor)) k,
			lateral (select * from weir.available a where a.class = k.class and a.order_seq >= k.floor order by a.order_seq, a.position limit 1) a),
		n.live, n.dead, w.live, w.dead
		from (select count(*) filter (where n.seen_at >= clock_timestamp() - interval '30 s') as live, count(*) filter (where n.seen_at < clock_timestamp() - interval '30 s') as dead from weir.nodes n) n,
			(select count(*) filter (where w.seen_at >= clock_timestamp() - interval '30 s') as live, count(*) filter (where w.seen_at < clock_timestamp() - interval '30 s') as dead
			from weir.workers w where w.stopped_at is null) w`,
		[]any{countMost + 1}, func(r *row) []any {
			return []any{
				&r.gates, &r.available, &r.running, (*moment)(&r.oldest),
				&r.nodes.Live, &r.nodes.Dead, &r.workers.Live, &r.workers.Dead,
			}
		})
	if err != nil {
		return err
	}
	r := rows[0]
	o.Counts = Counts{Pending: map[weir.Gate]Count{}, Available: counted(r.available), Running: counted(r.running)}
	for i, gate := range standing {
		o.Counts.Pending[gate] = counted(r.gates[i])
	}
	o.OldestAvailable, o.Nodes, o.Workers = r.oldest, r.nodes, r.workers
	return nil
}

// waiting groups pending tasks by what they wait for. Beyond groupMost it takes
// those that the table has first, and says that there are more.
func (s *Store) waiting(ctx context.Context, op string) ([]GateGroup, error) {
	type row struct {
		GateGroup
		n, all int
	}
	rows, err := list(ctx, s, op, `select x.gate::text, x.key, x.n, x.oldest, (select p.task from weir.pending p where p.ctid = x.example), x.all from (
			select p.gate, case p.gate when 'pool' then p.pool when 'lane' then p.lane end as key, count(*) as n, min(p.since) as oldest, min(p.row) as example, sum(count(*)) over () as all
			from (select p.ctid as row, * from weir.pending p limit $1) p group by 1, 2
		) x order by x.n desc, x.oldest limit 20`, []any{groupMost}, func(r *row) []any {
		return []any{&r.Gate, (*maybe)(&r.Key), &r.n, (*moment)(&r.Oldest), &r.Example, &r.all}
	})
	groups := make([]GateGroup, len(rows))
	for i, r := range rows {
		groups[i] = r.GateGroup
		groups[i].Count = counted(r.n)
		groups[i].Count.More = groups[i].Count.More || r.all == groupMost
	}
	return groups, err
}

// recentJobs are those that live, and the newest others if those are few.
func (s *Store) recentJobs(ctx context.Context, op string) ([]Job, error) {
	ids, err := inOrder(ctx, s, op, `select l.job from weir.job_live l order by l.job desc limit $1`, []any{shown}, idInto)
	if err != nil {
		return nil, err
	}
	if left := shown - len(ids); left > 0 {
		more, err := inOrder(ctx, s, op, `select j.id from weir.jobs j where j.id <> all ($1) order by j.id desc limit $2`, []any{ids, left}, idInto)
		if err != nil {
			return nil, err
		}
		ids = append(ids, more...)
	}
	return s.listedJobs(ctx, op, ids)
}
