package scenario

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/bench/internal/meter"
	"github.com/weirhq/weir/bench/internal/queue"
	"github.com/weirhq/weir/bench/internal/report"
	"github.com/weirhq/weir/bench/internal/stats"
)

const (
	gateLanes = 1_000
	gatePools = 100
	// passPending is fixed by its goal and is not scaled.
	passPending = 10_000
	// poolBacklog is the backlog behind one full pool at scale 1; scale 10 is the million
	// of the goal.
	poolBacklog = 100_000
	passes      = 5
)

const noGates = "no system in this run has gates"

// gated returns the systems whose jobs can wait behind gates.
func (b *Bench) gated() []*System {
	var found []*System
	for _, s := range b.Systems {
		if _, ok := s.Queue.(queue.Gated); ok {
			found = append(found, s)
		}
	}
	return found
}

// gates compares the same load with every job behind a lane and a pool, and
// without.
func gates(ctx context.Context, b *Bench, budget time.Duration) error {
	title := fmt.Sprintf("Gates on (%s lanes, %s pools) against off, 100 workers", count(gateLanes), count(gatePools))
	systems := b.gated()
	if len(systems) == 0 {
		b.skip("gates", title, noGates)
		return nil
	}
	off := load{scenario: "gates_off", workers: 100, jobs: b.size(40_000)}
	on := off
	on.scenario = "gates_on"
	without, with := map[string][]Round{}, map[string][]Round{}
	err := takeTurns(ctx, systems, 2, budget, func(s *System, i int) error {
		round, err := b.run(ctx, s, off, i)
		if err != nil {
			return err
		}
		without[s.Name()] = append(without[s.Name()], round)
		l := on
		l.insert = func(ctx context.Context, n int) error {
			return s.Queue.(queue.Gated).InsertGated(ctx, n, gateLanes, gatePools)
		}
		round, err = b.run(ctx, s, l, i)
		with[s.Name()] = append(with[s.Name()], round)
		return err
	})
	if err != nil {
		return err
	}
	table := report.Section{Scenario: "gates", Title: title, Header: summaryHeader}
	for _, s := range systems {
		a, z := summarise(s.Name()+" off", without[s.Name()]), summarise(s.Name()+" on", with[s.Name()])
		b.Report.Figure("gates."+s.Name()+".off_jobs_per_s", a.rate)
		b.Report.Figure("gates."+s.Name()+".on_jobs_per_s", z.rate)
		table.Notes = append(table.Notes, fmt.Sprintf("%s: gates cost %.1f %%", s.Name(), 100*(1-z.rate/a.rate)))
		table.Rows = append(table.Rows, a.row(), z.row())
	}
	b.Report.Show(b.Out, table)
	return nil
}

// pass shows that looking at closed gates writes nothing.
func pass(ctx context.Context, b *Bench, _ time.Duration) error {
	return b.closedGates(ctx, "pass", passPending)
}

// pool shows that a long backlog behind one full pool does not slow a pass.
func pool(ctx context.Context, b *Bench, _ time.Duration) error {
	return b.closedGates(ctx, "pool", b.size(poolBacklog))
}

func (b *Bench) closedGates(ctx context.Context, name string, pending int) error {
	title := fmt.Sprintf("Gate pass over %s pending behind a full pool, nothing to open", count(pending))
	systems := b.gated()
	if len(systems) == 0 {
		b.skip(name, title, noGates)
		return nil
	}
	table := report.Section{Scenario: name, Title: title, Header: []string{"system", "pass ms median", "max ms", "rows written", "passes"}}
	for _, s := range systems {
		took, written, err := b.passOver(ctx, s, pending)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name(), err)
		}
		b.Report.Figure(name+"."+s.Name()+".pass_ms", stats.Median(took))
		b.Report.Figure(name+"."+s.Name()+".rows_written", float64(written))
		table.Rows = append(table.Rows, []string{
			s.Name(), report.Number(stats.Median(took), 2), report.Number(stats.Max(took), 2),
			report.Number(float64(written), 0), report.Number(passes, 0),
		})
	}
	b.Report.Show(b.Out, table)
	return nil
}

// passOver runs passes on one connection with no worker and no other loop
// running, so that every row written is written by a pass.
func (b *Bench) passOver(ctx context.Context, s *System, pending int) (took []float64, written int64, err error) {
	if err := s.Reset(ctx); err != nil {
		return nil, 0, err
	}
	gated := s.Queue.(queue.Gated)
	if err := gated.InsertBlocked(ctx, pending); err != nil {
		return nil, 0, err
	}
	if err := s.prepare(ctx); err != nil {
		return nil, 0, err
	}
	conn, err := b.Server.Connect(ctx, s.Database)
	if err != nil {
		return nil, 0, err
	}
	defer conn.Close(ctx)
	// The first pass may still move a new task to the gate where it stays.
	if err := passOnce(ctx, gated, conn); err != nil {
		return nil, 0, err
	}
	before, err := meter.RowsWritten(ctx, conn)
	if err != nil {
		return nil, 0, err
	}
	for range passes {
		start := time.Now()
		if err := passOnce(ctx, gated, conn); err != nil {
			return nil, 0, err
		}
		took = append(took, milliseconds(time.Since(start)))
	}
	after, err := meter.RowsWritten(ctx, conn)
	if err != nil {
		return nil, 0, err
	}
	return took, after - before, s.Reset(ctx)
}

func passOnce(ctx context.Context, gated queue.Gated, conn *pgx.Conn) error {
	opened, err := gated.OpenGates(ctx, conn)
	if err != nil {
		return err
	}
	if opened != 0 {
		return fmt.Errorf("a pass opened %d jobs behind a full pool", opened)
	}
	return nil
}
