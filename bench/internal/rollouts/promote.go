package rollouts

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/bench/internal/meter"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/rollout/script"
)

// Promoted are the latencies of promotions, in milliseconds from the call of
// Promote: until it returned, until the run was claimed, and until the database
// executed the first statement.
type Promoted struct {
	Returned, Claimed, Executed []float64
}

// Promote makes n rollouts of two stages, and promotes the second stage of each
// when the first one is done and the server is idle again.
func (s *Side) Promote(ctx context.Context, n int, first, second string) (found Promoted, err error) {
	conn, err := pgx.Connect(ctx, second)
	if err != nil {
		return found, err
	}
	defer conn.Close(ctx)
	for _, url := range []string{first, second} {
		if err := applyBare(ctx, url, []Migration{{SQL: "create table marks (at timestamptz not null default clock_timestamp());"}}); err != nil {
			return found, err
		}
	}
	if err := s.register(ctx, "first", first); err != nil {
		return found, err
	}
	if err := s.register(ctx, "second", second); err != nil {
		return found, err
	}
	for i := range n {
		x, err := s.store.Create(ctx, "bench", rollout.Plan{
			Name: fmt.Sprintf("promote %d", i), Changes: []script.Change{reading(i + 1)},
			Stages: []rollout.Stage{{Name: "first", Databases: []string{"first"}}, {Name: "second", Databases: []string{"second"}, Promote: rollout.PromoteManual}},
		}, "")
		if err != nil {
			return found, err
		}
		if _, err := s.store.Start(ctx, "bench", x.ID); err != nil {
			return found, err
		}
		if err := s.ended(ctx, x.ID, 1); err != nil {
			return found, err
		}
		loop.Wait(ctx, time.Duration(20+rand.IntN(60))*time.Millisecond, nil) // #nosec G404 -- a random gap
		called := time.Now()
		if _, err := s.store.Promote(ctx, "bench", x.ID, "second"); err != nil {
			return found, err
		}
		found.Returned = append(found.Returned, ms(time.Since(called)))
		if err := s.ended(ctx, x.ID, 2); err != nil {
			return found, err
		}
		var claimed, executed time.Time
		if err := s.Pool.QueryRow(ctx, `select max(f.started_at) from weir.rollout_tasks x join weir.finished f on f.task = x.task join weir.tasks q on q.id = x.task where q.job = $1`, x.ID).Scan(&claimed); err != nil {
			return found, fmt.Errorf("read when a run was claimed: %w", err)
		}
		if err := conn.QueryRow(ctx, `select max(at) from marks`).Scan(&executed); err != nil {
			return found, fmt.Errorf("read when a statement ran: %w", err)
		}
		found.Claimed = append(found.Claimed, ms(claimed.Sub(called)))
		found.Executed = append(found.Executed, ms(executed.Sub(called)))
	}
	return found, nil
}

// Waiting has n runs wait for an approval, and passes over them as the leader does. It
// returns how many rows the passes wrote and how long each took, in milliseconds. It is
// for a database without a server.
func Waiting(ctx context.Context, url string, store *rollout.Store, databases, changes, passes int) (pending int, took []float64, written int64, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return 0, nil, 0, err
	}
	defer conn.Close(ctx)
	plan := rollout.Plan{Name: "waiting", Parallel: 10, Stages: []rollout.Stage{{Name: "all", Environment: "bench", Approvals: 1}}}
	for i := range databases {
		if _, err := conn.Exec(ctx, `select weir.rollout_put_database($1, 'postgres', 'bench', 'NONE')`, fmt.Sprintf("d%03d", i)); err != nil {
			return 0, nil, 0, err
		}
	}
	for i := range changes {
		plan.Changes = append(plan.Changes, reading(i+1))
	}
	x, err := store.Create(ctx, "bench", plan, "")
	if err == nil {
		_, err = store.Start(ctx, "bench", x.ID)
	}
	if err == nil {
		x, err = store.Rollout(ctx, x.ID)
	}
	if err != nil {
		return 0, nil, 0, err
	}
	pass := func() error {
		for _, statement := range []string{`select weir.rollout_sweep()`, `select weir.tend(sweep => true)`} {
			if _, err := conn.Exec(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	}
	// The first pass may still do what a new database needs.
	if err := pass(); err != nil {
		return 0, nil, 0, err
	}
	before, err := meter.RowsWritten(ctx, conn)
	if err != nil {
		return 0, nil, 0, err
	}
	for range passes {
		began := time.Now()
		if err := pass(); err != nil {
			return 0, nil, 0, err
		}
		took = append(took, ms(time.Since(began)))
	}
	after, err := meter.RowsWritten(ctx, conn)
	return x.Counts.Pending, took, after - before, err
}

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
