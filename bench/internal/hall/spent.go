package hall

import (
	"context"
	"fmt"
	"time"

	"github.com/weirhq/weir/bench/internal/meter"
	"github.com/weirhq/weir/internal/loop"
)

// Spent is what a span of time has cost.
type Spent struct {
	Elapsed time.Duration
	// Runs are the runs that were done; Lost are the events that mean that one was not: a
	// failed attempt, an expired lease, a report that was refused.
	Runs, Lost int64
	// Running is how many devices worked at the end.
	Running int64
	// Transactions and Rows are those of the database.
	Transactions, Rows, Events, WAL int64
	Server, Agents, Postgres        time.Duration
	// Statements are the most frequent ones.
	Statements []Statement
}

// Statement is a statement of the server, and how often it ran.
type Statement struct {
	Text  string
	Calls int64
	// Took is the time in PostgreSQL in milliseconds.
	Took float64
}

// CPU returns the CPU time of everything.
func (s Spent) CPU() time.Duration { return s.Server + s.Agents + s.Postgres }

// Per returns a number for each run.
func (s Spent) Per(n int64) float64 { return float64(n) / float64(max(s.Runs, 1)) }

// PerMS returns milliseconds for each run.
func (s Spent) PerMS(d time.Duration) float64 {
	return float64(d.Microseconds()) / 1000 / float64(max(s.Runs, 1))
}

// state are all counters at one instant.
type state struct {
	Runs, Lost, Running, Transactions, Rows, Events int64
	server, agents                                  time.Duration
}

func (h *Hall) state(ctx context.Context) (s state, err error) {
	err = h.Pool.QueryRow(ctx, `select /* bench:probe */ (select count(*) from weir.fleet_units where state = 'done'),
		(select count(*) from weir.events where type in ('failed', 'expired', 'stale')), (select count(*) from weir.running where device is not null),
		(select xact_commit from pg_stat_database where datname = current_database()),
		(select sum(n_tup_ins + n_tup_upd + n_tup_del)::bigint from pg_stat_user_tables), (select count(*) from weir.events)`).
		Scan(&s.Runs, &s.Lost, &s.Running, &s.Transactions, &s.Rows, &s.Events)
	if err != nil {
		return s, fmt.Errorf("read the counters: %w", err)
	}
	if s.server, err = meter.ProcessCPU(h.server.PID()); err != nil {
		return s, err
	}
	for _, p := range h.agents {
		one, err := meter.ProcessCPU(p.PID())
		if err != nil {
			return s, fmt.Errorf("an agent ended: %w", err)
		}
		s.agents += one
	}
	return s, nil
}

// Measure lets the hall work for a time.
func (h *Hall) Measure(ctx context.Context, m *meter.Meter, length time.Duration) (s Spent, err error) {
	if _, err := h.Pool.Exec(ctx, `create extension if not exists pg_stat_statements; select pg_stat_statements_reset()`); err != nil {
		return s, err
	}
	before, err := h.state(ctx)
	if err != nil {
		return s, err
	}
	began, err := m.Read(ctx)
	if err != nil {
		return s, err
	}
	loop.Wait(ctx, length, nil)
	ended, err := m.Read(ctx)
	if err != nil {
		return s, err
	}
	after, err := h.state(ctx)
	if err != nil {
		return s, err
	}
	cost := ended.Since(began)
	s = Spent{
		Elapsed: cost.Elapsed, Runs: after.Runs - before.Runs, Lost: after.Lost - before.Lost, Running: after.Running,
		Transactions: after.Transactions - before.Transactions, Rows: after.Rows - before.Rows, Events: after.Events - before.Events,
		WAL: cost.WAL, Server: after.server - before.server, Agents: after.agents - before.agents, Postgres: cost.Postgres,
	}
	rows, err := h.Pool.Query(ctx, `select /* bench:probe */ left(regexp_replace(query, '\s+', ' ', 'g'), 110), calls, total_exec_time from pg_stat_statements
		where toplevel and dbid = (select oid from pg_database where datname = current_database()) and query not like '%bench:probe%' order by calls desc limit 14`)
	if err != nil {
		return s, err
	}
	defer rows.Close()
	for rows.Next() {
		var x Statement
		if err := rows.Scan(&x.Text, &x.Calls, &x.Took); err != nil {
			return s, err
		}
		s.Statements = append(s.Statements, x)
	}
	return s, rows.Err()
}
