package metrics

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/workspace"
)

// Source is the store that reads the database.
type Source interface {
	Overview(ctx context.Context) (view.Overview, error)
	Rates(ctx context.Context, since time.Duration) ([]view.Rate, error)
	Health(ctx context.Context) (view.Health, error)
	Pools(ctx context.Context, page view.Page) ([]view.Pool, error)
}

// poolLimit is how many pools have metrics: the busiest ones.
const poolLimit = 100

var (
	databaseUp  = gauge(process, "weir_database_up", "1 if this server could read everything from the database the last time, else 0")
	readSeconds = gauge(process, "weir_database_read_seconds", "How long the last reading of the database took", "reading")
	readErrors  = counter(process, "weir_database_read_errors_total", "Readings of the database that failed", "reading")

	tasksByState  = gauge(database, "weir_tasks", "Tasks that have not ended, by state; counting stops at 10,000", "state")
	tasksByGate   = gauge(database, "weir_tasks_pending", "Tasks that wait, by the gate they stand at; counting stops at 10,000", "gate")
	gateOldest    = gauge(database, "weir_gate_oldest_age_seconds", "For how long the oldest task of the largest groups at this gate has waited", "gate")
	oldest        = gauge(database, "weir_oldest_available_age_seconds", "For how long the task has waited that may start and has not; 0 if there is none")
	submitted     = counter(database, "weir_tasks_submitted_total", "Tasks submitted since this server began to look")
	started       = counter(database, "weir_attempts_started_total", "Attempts claimed by workers since this server began to look")
	finished      = counter(database, "weir_tasks_finished_total", "Tasks that ended since this server began to look, by outcome", "outcome")
	expired       = counter(database, "weir_lease_expiries_total", "Leases that ran out because their worker was not heard of")
	refused       = counter(database, "weir_stale_refusals_total", "Calls of workers that were refused because their lease was not theirs any more")
	waitTime      = gauge(database, "weir_task_wait_seconds", "Time from when a task might start until it did: percentile of a sample of the last minute, no histogram", "percentile")
	runTime       = gauge(database, "weir_task_run_seconds", "Time from the start of an attempt to its end: percentile of a sample of the last minute, no histogram", "percentile")
	poolSize      = gauge(database, "weir_pool_size", "Size of a pool; none if it has no bound. The 100 busiest pools have metrics", "pool")
	poolInUse     = gauge(database, "weir_pool_in_use", "Tasks that hold a place in a pool: available and running", "pool")
	poolWaiting   = gauge(database, "weir_pool_waiting", "Tasks that wait for a place in a pool", "pool")
	nodes         = gauge(database, "weir_nodes", "Machines, by whether they were heard of lately: live or dead", "state")
	workers       = gauge(database, "weir_workers", "Workers, by whether they were heard of lately: live or dead", "state")
	xminAge       = gauge(database, "weir_xmin_age_transactions", "How many transactions ago the oldest snapshot was taken: rows that died since cannot be vacuumed")
	transaction   = gauge(database, "weir_oldest_transaction_age_seconds", "For how long the oldest open transaction has been open; 0 if there is none")
	tableLive     = gauge(database, "weir_table_live_rows", "Rows of a table of the engine, as PostgreSQL estimates them", "table")
	tableDead     = gauge(database, "weir_table_dead_rows", "Dead rows of a table of the engine, as PostgreSQL estimates them", "table")
	tableSize     = gauge(database, "weir_table_size_bytes", "Size of a table of the engine with its indexes and partitions", "table")
	partitions    = gauge(database, "weir_partitions", "Partitions of a table that keeps history", "table")
	databaseSize  = gauge(database, "weir_database_size_bytes", "Size of the database")
	sessions      = gauge(database, "weir_database_sessions", "Connections that PostgreSQL has open, for everybody")
	sessionsLimit = gauge(database, "weir_database_sessions_limit", "Connections that PostgreSQL allows")
	lockHeld      = gauge(database, "weir_lock_held", "1 if somebody holds the lead, as the database knows it", "lock")
	lockEpoch     = gauge(database, "weir_lock_epoch", "Number of the present or last term of the lead: it grows with every change of leader", "lock")
)

// engine collects the metrics that are read from the database.
type engine struct {
	overview reading[view.Overview]
	rates    reading[sums]
	pools    reading[[]view.Pool]
	health   reading[health]
	// fleet is nil if there is no store of fleets.
	fleet *reading[fleet.Figures]
	// workspaces is nil if there is no store of workspaces.
	workspaces *reading[workspace.Figures]
}

func newEngine(s Source, f Fleet, w Workspaces, every time.Duration) *engine {
	counts := &counts{source: s}
	e := &engine{
		overview: reading[view.Overview]{name: "overview", every: every, read: s.Overview},
		rates:    reading[sums]{name: "rates", every: every, read: counts.read},
		pools: reading[[]view.Pool]{name: "pools", every: 2 * every, read: func(ctx context.Context) ([]view.Pool, error) {
			pools, err := s.Pools(ctx, view.Page{Limit: 1000})
			return busiest(pools), err
		}},
		// Sizes of files are more expensive to read and change slowly.
		health: reading[health]{name: "health", every: 4 * every, read: func(ctx context.Context) (health, error) {
			h, err := s.Health(ctx)
			return health{h, time.Now()}, err
		}},
	}
	if f != nil {
		e.fleet = fleetReading(f, every)
	}
	if w != nil {
		e.workspaces = workspaceReading(w, every)
	}
	return e
}

// health is a view.Health with the time it was taken, because terms are short.
type health struct {
	view.Health
	at time.Time
}

// Describe implements [prometheus.Collector].
func (e *engine) Describe(descs chan<- *prometheus.Desc) {
	for _, m := range declared {
		if m.scope == database {
			descs <- m.desc
		}
	}
	for _, m := range []*metric{databaseUp, readSeconds, readErrors} {
		descs <- m.desc
	}
}

// Collect implements [prometheus.Collector]. The readings run concurrently, so that
// together they take no longer than one may.
func (e *engine) Collect(metrics chan<- prometheus.Metric) {
	o := out(metrics)
	var group sync.WaitGroup
	group.Go(func() { collect(o, &e.overview, putOverview) })
	group.Go(func() { collect(o, &e.pools, putPools) })
	group.Go(func() { collect(o, &e.health, putHealth) })
	if e.fleet != nil {
		group.Go(func() { collect(o, e.fleet, putFleet) })
	}
	if e.workspaces != nil {
		group.Go(func() { collect(o, e.workspaces, putWorkspaces) })
	}
	group.Go(func() {
		sums, _ := e.rates.look()
		putRates(o, sums)
	})
	group.Wait()
	up := 1.0
	for _, ok := range []bool{e.overview.tell(o), e.rates.tell(o), e.pools.tell(o), e.health.tell(o), e.fleet == nil || e.fleet.tell(o), e.workspaces == nil || e.workspaces.tell(o)} {
		if !ok {
			up = 0
		}
	}
	o.put(databaseUp, up)
}

func collect[T any](o out, r *reading[T], put func(out, T)) {
	if v, ok := r.look(); ok {
		put(o, v)
	}
}

func putOverview(o out, v view.Overview) {
	pending := 0
	for gate, count := range v.Counts.Pending {
		o.put(tasksByGate, float64(count.N), string(gate))
		pending += count.N
	}
	o.put(tasksByState, float64(pending), string(weir.Pending))
	o.put(tasksByState, float64(v.Counts.Available.N), string(weir.Available))
	o.put(tasksByState, float64(v.Counts.Running.N), string(weir.Running))
	o.put(oldest, age(v.OldestAvailable))
	waited := map[weir.Gate]float64{}
	for gate := range v.Counts.Pending {
		waited[gate] = 0
	}
	for _, g := range v.Waiting {
		waited[g.Gate] = max(waited[g.Gate], age(g.Oldest))
	}
	for gate, seconds := range waited {
		o.put(gateOldest, seconds, string(gate))
	}
	for m, n := range map[*metric]view.Alive{nodes: v.Nodes, workers: v.Workers} {
		o.put(m, float64(n.Live), "live")
		o.put(m, float64(n.Dead), "dead")
	}
}

// putRates puts the counters even if they could not be read, because a counter must not
// vanish for a while.
func putRates(o out, v sums) {
	t := v.total
	o.put(submitted, float64(t.Submitted))
	o.put(started, float64(t.Started))
	o.put(finished, float64(t.Done), "done")
	o.put(finished, float64(t.Failed), "failed")
	o.put(finished, float64(t.Canceled), "canceled")
	o.put(expired, float64(t.Expired))
	o.put(refused, float64(t.Refused))
	for _, p := range []struct {
		m          *metric
		percentile string
		value      *float64
	}{
		{waitTime, "50", v.newest.WaitP50},
		{waitTime, "95", v.newest.WaitP95},
		{runTime, "50", v.newest.RunP50},
		{runTime, "95", v.newest.RunP95},
	} {
		if p.value != nil {
			o.put(p.m, *p.value, p.percentile)
		}
	}
}

func putPools(o out, pools []view.Pool) {
	for _, p := range pools {
		if p.Size != nil {
			o.put(poolSize, float64(*p.Size), p.Name)
		}
		o.put(poolInUse, float64(p.Available+p.Running), p.Name)
		o.put(poolWaiting, float64(p.Waiting), p.Name)
	}
}

// busiest returns the pools with the most running or waiting tasks.
func busiest(pools []view.Pool) []view.Pool {
	slices.SortStableFunc(pools, func(a, b view.Pool) int {
		return b.Waiting + b.Available + b.Running - (a.Waiting + a.Available + a.Running)
	})
	return pools[:min(len(pools), poolLimit)]
}

func putHealth(o out, h health) {
	o.put(xminAge, float64(h.XminAge))
	o.put(transaction, age(h.OldestTransaction))
	for _, t := range h.Tables {
		o.put(tableLive, float64(t.Live), t.Name)
		o.put(tableDead, float64(t.Dead), t.Name)
		o.put(tableSize, float64(t.Size), t.Name)
	}
	parts := map[string]int{}
	for _, p := range h.Partitions {
		parts[p.Parent]++
	}
	for table, n := range parts {
		o.put(partitions, float64(n), table)
	}
	o.put(databaseSize, float64(h.Database.Size))
	o.put(sessions, float64(h.Database.Connections))
	o.put(sessionsLimit, float64(h.Database.MaxConnections))
	for _, l := range h.Locks {
		held := 0.0
		if l.Until.After(h.at) {
			held = 1
		}
		o.put(lockHeld, held, l.Name)
		o.put(lockEpoch, float64(l.Epoch), l.Name)
	}
}

// age returns how long ago something was, in seconds, or 0 if it never was.
func age(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return max(0, time.Since(t).Seconds())
}
